package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// runner stands in for scheduler and kubelet: it runs the init containers and the first
// container of each pod as processes of this machine, whatever their image, with the
// rights of the pod's service account, and says how that ended. Volumes are folders,
// whose paths stand in the place of the mounts' in commands.
type runner struct {
	p      *plane
	client kubernetes.Interface
	// evict says of a pod that has not run that it is evicted instead.
	evict func(*corev1.Pod) bool

	mu   sync.Mutex
	runs map[string]int // of each completion index, evictions included
	logs []string       // what containers said on stderr, a pod each
}

const taskName = "batch.kubernetes.io/job-completion-index"

// jobs starts the real job controller, and the runner.
func (p *plane) jobs(evict func(*corev1.Pod) bool) *runner {
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
	r := &runner{p: p, client: client, evict: evict, runs: map[string]int{}}
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
			continue // it ends, or is asked again
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

// pod lives a pod's life.
func (r *runner) pod(ctx context.Context, pod *corev1.Pod) {
	r.mu.Lock()
	r.runs[pod.Annotations[taskName]]++
	evicted := r.evict != nil && r.evict(pod)
	r.mu.Unlock()
	pod.Status.Phase = corev1.PodRunning
	if evicted {
		r.report(ctx, pod, 137, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", LastTransitionTime: metav1.Now()})
		return
	}
	pod, err := r.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if err != nil {
		return // it was deleted
	}
	var code int
	var said string
	for _, container := range append(pod.Spec.InitContainers, pod.Spec.Containers[0]) {
		if code, said = r.process(ctx, pod, &container); code != 0 {
			break
		}
	}
	r.mu.Lock()
	r.logs = append(r.logs, fmt.Sprintf("%s (index %s) ends with %d: %s", pod.Name, pod.Annotations[taskName], code, said))
	r.mu.Unlock()
	r.report(ctx, pod, int32(code))
}

func (r *runner) report(ctx context.Context, pod *corev1.Pod, code int32, conditions ...corev1.PodCondition) {
	pod.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	pod.Status.Conditions = conditions
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, StartedAt: metav1.Now(), FinishedAt: metav1.Now()}},
	}}
	_, _ = r.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
}

// process runs a container. Of its output the last is kept, as in a log.
func (r *runner) process(ctx context.Context, pod *corev1.Pod, container *corev1.Container) (code int, said string) {
	config, err := r.account(ctx, pod)
	if err != nil {
		return 128, err.Error()
	}
	env := map[string]string{}
	lines := append(os.Environ(), "KUBECONFIG="+config, "PATH="+os.Getenv("CELADON_KUBE")+":"+os.Getenv("PATH"))
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
		argv = []string{"/celadon"} // the image's
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
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = lines, r.p.t.TempDir()
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 127, err.Error()
	}
	return cmd.ProcessState.ExitCode(), string(out[max(0, len(out)-1000):])
}

// account is a kubeconfig with a token of the pod's service account.
func (r *runner) account(ctx context.Context, pod *corev1.Pod) (string, error) {
	if pod.Spec.ServiceAccountName == "" {
		return "/dev/null", nil
	}
	token, err := r.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	name := r.p.path(pod.Name + ".kubeconfig")
	return name, os.WriteFile(name, []byte(kubeconfig(r.p.server, token.Status.Token)), 0o600)
}

// volume is the folder of a pod's volume: of a claim, of a ConfigMap, or empty.
func (r *runner) volume(pod *corev1.Pod, name string) string {
	dir := r.p.path(filepath.Join("volumes", pod.Name, name))
	for _, v := range pod.Spec.Volumes {
		if v.Name != name {
			continue
		}
		if v.PersistentVolumeClaim != nil {
			dir = r.claim(v.PersistentVolumeClaim.ClaimName)
		}
		if v.ConfigMap != nil {
			dir = r.p.path(filepath.Join("configmaps", v.ConfigMap.Name)) // one path for all pods, as in real ones
			if err := r.unpack(pod.Namespace, v.ConfigMap.Name, dir); err != nil {
				r.p.t.Errorf("ConfigMap %s: %v", v.ConfigMap.Name, err)
			}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		r.p.t.Error(err)
	}
	return dir
}

// claim is the folder of a PersistentVolumeClaim, which all pods share.
func (r *runner) claim(name string) string { return r.p.path(filepath.Join("claims", name)) }

func (r *runner) unpack(namespace, name, dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := os.Stat(dir); err == nil {
		return nil // another pod may be reading it
	}
	data, err := r.client.CoreV1().ConfigMaps(namespace).Get(r.p.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for key, text := range data.Data {
		if err := os.WriteFile(filepath.Join(dir, key), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
