"""What users see: the models of the API, names, labels, reasons. No I/O."""
