package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	deviceplugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	registrationTimeout = 5 * time.Second
	retryAfter          = 500 * time.Millisecond
)

// newDevicePluginCommand makes the program that offers devices to a kubelet, as the plugins of
// NVIDIA and Mellanox do; the devices are only names.
func newDevicePluginCommand() *cobra.Command {
	var resources map[string]int
	command := &cobra.Command{
		Use:           "device-plugin",
		Short:         "Offer simulated devices to the kubelet",
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return offer(ctx, resources)
		},
	}
	command.Flags().StringToIntVar(&resources, "resource", nil, "resource and number of devices, as nvidia.com/gpu=8; may be repeated")
	return command
}

// offer registers every resource, and again each time that the kubelet makes its socket anew:
// a restarted kubelet has forgotten its plugins and has emptied the directory. The socket may also
// be that of a kubelet that is gone, so a refused registration is tried again.
func offer(ctx context.Context, resources map[string]int) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	if err := os.MkdirAll(deviceplugin.DevicePluginPath, 0o750); err != nil {
		return err
	}
	if err := watcher.Add(deviceplugin.DevicePluginPath); err != nil {
		return err
	}
	for {
		servers, err := serveAll(ctx, resources)
		var again <-chan time.Time
		if err != nil {
			fmt.Fprintln(os.Stderr, "not registered:", err)
			again = time.After(retryAfter)
		}
		err = wait(ctx, watcher, again)
		for _, server := range servers {
			server.Stop()
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// wait returns when it is time to register: the kubelet is new, or the moment has come.
func wait(ctx context.Context, watcher *fsnotify.Watcher, again <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again:
			return nil
		case event := <-watcher.Events:
			if event.Name == deviceplugin.KubeletSocket && event.Has(fsnotify.Create) {
				return nil
			}
		case err := <-watcher.Errors:
			return err
		}
	}
}

// serveAll answers with the servers that it has started, also when one of them failed.
func serveAll(ctx context.Context, resources map[string]int) ([]*grpc.Server, error) {
	var servers []*grpc.Server
	for resource, count := range resources {
		server, err := serve(ctx, resource, count)
		if err != nil {
			return servers, fmt.Errorf("%s: %w", resource, err)
		}
		servers = append(servers, server)
	}
	return servers, nil
}

// serve opens the socket of one resource and tells the kubelet about it.
func serve(ctx context.Context, resource string, count int) (*grpc.Server, error) {
	endpoint := strings.ReplaceAll(resource, "/", "_") + ".sock"
	socket := filepath.Join(deviceplugin.DevicePluginPath, endpoint)
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer()
	deviceplugin.RegisterDevicePluginServer(server, newPlugin(resource, count))
	go func() { _ = server.Serve(listener) }() // the error is that of Stop

	connection, err := grpc.NewClient("unix://"+deviceplugin.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		server.Stop()
		return nil, err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(ctx, registrationTimeout)
	defer cancel()
	_, err = deviceplugin.NewRegistrationClient(connection).Register(ctx, &deviceplugin.RegisterRequest{
		Version:      deviceplugin.Version,
		Endpoint:     endpoint,
		ResourceName: resource,
	})
	if err != nil {
		server.Stop()
		return nil, err
	}
	return server, nil
}

// plugin answers for one resource: all its devices are healthy, always.
type plugin struct {
	deviceplugin.UnimplementedDevicePluginServer
	variable string
	devices  []*deviceplugin.Device
}

func newPlugin(resource string, count int) *plugin {
	made := &plugin{variable: "TESTBED_DEVICES"}
	if resource == "nvidia.com/gpu" {
		made.variable = "NVIDIA_VISIBLE_DEVICES"
	}
	for number := range count {
		made.devices = append(made.devices, &deviceplugin.Device{ID: fmt.Sprint(number), Health: deviceplugin.Healthy})
	}
	return made
}

func (*plugin) GetDevicePluginOptions(context.Context, *deviceplugin.Empty) (*deviceplugin.DevicePluginOptions, error) {
	return &deviceplugin.DevicePluginOptions{}, nil
}

func (p *plugin) ListAndWatch(_ *deviceplugin.Empty, stream deviceplugin.DevicePlugin_ListAndWatchServer) error {
	if err := stream.Send(&deviceplugin.ListAndWatchResponse{Devices: p.devices}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// Allocate tells a container which devices are its own, by the variable that NVIDIA's plugin sets.
func (p *plugin) Allocate(_ context.Context, request *deviceplugin.AllocateRequest) (*deviceplugin.AllocateResponse, error) {
	answer := &deviceplugin.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &deviceplugin.ContainerAllocateResponse{
			Envs: map[string]string{p.variable: strings.Join(container.DevicesIds, ",")},
		})
	}
	return answer, nil
}
