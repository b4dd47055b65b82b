package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// runner replaces the scheduler and the kubelet. It runs the init containers and the first
// container of each pod as local processes, regardless of their images, with the permissions of the
// pod's service account, and updates the pod's status. Volumes are folders, and the mount paths in
// commands are replaced by the paths of these folders.
type runner struct {
	p      *plane
	client kubernetes.Interface
	// fate may be nil.
	fate func(*corev1.Pod) fate

	mu     sync.Mutex
	runs   map[string]int // number of runs per completion index
	killed int            // number of pods that were killed while they wrote a report
	logs   []string       // end of the output of each pod
}

type fate int

const (
	lives   fate = iota
	evicted      // killed by an eviction
	dies         // killed as if out of memory
)

const taskName = "batch.kubernetes.io/job-completion-index"

// jobs starts the real job controller and the runner.
func (p *plane) jobs(befalls func(*corev1.Pod) fate) *runner {
	p.t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: p.server, BearerToken: adminToken, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(p.t.Context())
	var all sync.WaitGroup
	p.t.Cleanup(func() { stop(); all.Wait() })
	shared := informers.NewSharedInformerFactory(client, 0)
	controller, err := job.NewController(ctx, client, shared.Core().V1().Pods(), shared.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	shared.Start(ctx.Done())
	r := &runner{p: p, client: client, fate: befalls, runs: map[string]int{}}
	all.Go(func() { controller.Run(ctx, 2) })
	all.Go(func() { r.run(ctx) })
	return r
}

func (r *runner) run(ctx context.Context) {
	seen := map[string]bool{}
	var pods sync.WaitGroup
	defer pods.Wait()
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		list, err := r.client.CoreV1().Pods(corev1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			continue // the context has ended, or the next iteration retries
		}
		for _, pod := range list.Items {
			switch {
			case pod.DeletionTimestamp != nil:
				now := int64(0)
				_ = r.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
			case !seen[string(pod.UID)]:
				seen[string(pod.UID)] = true
				pods.Go(func() { r.pod(ctx, &pod) })
			}
		}
	}
}

func (r *runner) logsOf(index string) (runs, killed int, output string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[index], r.killed, strings.Join(r.logs, "\n")
}

func (r *runner) pod(ctx context.Context, pod *corev1.Pod) {
	r.mu.Lock()
	r.runs[pod.Annotations[taskName]]++
	fate := lives
	if r.fate != nil {
		fate = r.fate(pod)
	}
	r.mu.Unlock()
	pod.Status.Phase = corev1.PodRunning
	pod, err := r.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if err != nil {
		return // the pod was deleted
	}
	var code int
	var output string
	for _, container := range append(pod.Spec.InitContainers, pod.Spec.Containers[0]) {
		if code, output = r.process(ctx, pod, &container, fate); code != 0 {
			break
		}
	}
	r.mu.Lock()
	r.logs = append(r.logs, fmt.Sprintf("%s (index %s) ends with %d: %s", pod.Name, pod.Annotations[taskName], code, output))
	r.mu.Unlock()
	if fate == evicted {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: metav1.Now()}}
	}
	r.report(ctx, pod, int32(code))
}

func (r *runner) report(ctx context.Context, pod *corev1.Pod, code int32) {
	pod.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: metav1.Now(), FinishedAt: metav1.Now()}},
	}}
	_, _ = r.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
}

func (r *runner) process(ctx context.Context, pod *corev1.Pod, container *corev1.Container, fate fate) (code int, output string) {
	account, err := r.account(ctx, pod)
	if err != nil {
		return 128, err.Error()
	}
	env := map[string]string{}
	lines := []string{"ACCOUNT=" + account, "PATH=" + os.Getenv("CELADON_KUBE") + ":" + os.Getenv("PATH"), "KUBERNETES_SERVICE_HOST=" + r.p.host, "KUBERNETES_SERVICE_PORT=6443"}
	for _, e := range container.Env {
		value := expansion.Expand(e.Value, expansion.MappingFuncFor(env))
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			if value, err = fieldpath.ExtractFieldPathAsString(pod, e.ValueFrom.FieldRef.FieldPath); err != nil {
				return 128, err.Error()
			}
		}
		env[e.Name] = value
		lines = append(lines, e.Name+"="+value)
	}
	argv := container.Command
	if len(argv) == 0 {
		argv = []string{"/celadon"} // entrypoint of the image
	}
	argv = append(argv[:len(argv):len(argv)], container.Args...)
	var mounts []string
	for _, mount := range container.VolumeMounts {
		mounts = append(mounts, mount.MountPath, r.volume(pod, mount.Name))
	}
	here := strings.NewReplacer(mounts...)
	for i := range argv {
		argv[i] = here.Replace(expansion.Expand(argv[i], expansion.MappingFuncFor(env)))
	}
	if filepath.Base(argv[0]) == "celadon" {
		argv[0] = binary("celadon")
	}
	unshare := []string{"--mount", "sh", "-c", inPod, "sh"}
	if os.Getuid() != 0 {
		unshare = append([]string{"--map-root-user"}, unshare...)
	}
	cmd := exec.CommandContext(ctx, "unshare", append(unshare, argv...)...)
	cmd.Env, cmd.Dir = lines, r.p.t.TempDir()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return 127, err.Error()
	}
	ended := make(chan struct{})
	var watching sync.WaitGroup
	if fate != lives {
		watching.Go(func() { r.kill(cmd.Process, ended) })
	}
	err = cmd.Wait()
	close(ended)
	watching.Wait()
	if code = cmd.ProcessState.ExitCode(); code < 0 {
		code = 137
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 127, err.Error()
	}
	return code, string(out.Bytes()[max(0, out.Len()-1000):])
}

// kill kills a process once it has begun to write a file to a volume claim. It checks every
// millisecond, to find the file while it is open.
func (r *runner) kill(process *os.Process, ended chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
		_ = process.Signal(syscall.SIGSTOP)
		open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", process.Pid))
		for _, fd := range open {
			if name, err := os.Readlink(fd); err == nil && strings.HasPrefix(name, r.claim("")) {
				r.mu.Lock()
				r.killed++
				r.mu.Unlock()
				_ = process.Kill()
				return
			}
		}
		_ = process.Signal(syscall.SIGCONT)
	}
}
