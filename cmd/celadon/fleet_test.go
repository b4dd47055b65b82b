package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/check"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/merge"
)

const (
	fleetExample = "../../examples/fleet/"
	// fleetImage is celadon's image in the examples. Its registry cannot exist, so the
	// examples never run an unknown image by accident.
	fleetImage = "registry.example.com/celadon:v0.1.0"
)

func fleetDocuments(t *testing.T, text []byte) (objects []any) {
	t.Helper()
	r := yamlstream.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := r.Read()
		if errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatal(err)
		}
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(doc, &head); err != nil {
			t.Fatal(err)
		}
		object := map[string]any{
			"v1 ServiceAccount": &corev1.ServiceAccount{}, "v1 ConfigMap": &corev1.ConfigMap{}, "v1 PersistentVolumeClaim": &corev1.PersistentVolumeClaim{},
			"rbac.authorization.k8s.io/v1 ClusterRole": &rbacv1.ClusterRole{}, "rbac.authorization.k8s.io/v1 ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
			"batch/v1 Job": &batchv1.Job{}, "argoproj.io/v1alpha1 Workflow": &argoWorkflow{},
		}[head.APIVersion+" "+head.Kind]
		if object == nil {
			t.Fatalf("%s %s: no such kind here", head.APIVersion, head.Kind)
		}
		if err := yaml.UnmarshalStrict(doc, object); err != nil {
			t.Fatalf("%s: %v", head.Kind, err)
		}
		objects = append(objects, object)
	}
}

type argoWorkflow struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       struct {
		Entrypoint         string                     `json:"entrypoint"`
		ServiceAccountName string                     `json:"serviceAccountName"`
		Automount          *bool                      `json:"automountServiceAccountToken"`
		Parallelism        int                        `json:"parallelism"`
		Arguments          argoArguments              `json:"arguments"`
		SecurityContext    *corev1.PodSecurityContext `json:"securityContext"`
		Volumes            []corev1.Volume            `json:"volumes"`
		Templates          []struct {
			Name          string            `json:"name"`
			Steps         [][]argoStep      `json:"steps"`
			Inputs        argoArguments     `json:"inputs"`
			RetryStrategy map[string]string `json:"retryStrategy"`
			Container     *corev1.Container `json:"container"`
		} `json:"templates"`
	} `json:"spec"`
}

type argoArguments struct {
	Parameters []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"parameters"`
}

type argoStep struct {
	Name         string            `json:"name"`
	Template     string            `json:"template"`
	ContinueOn   map[string]bool   `json:"continueOn"`
	Arguments    argoArguments     `json:"arguments"`
	WithSequence map[string]string `json:"withSequence"`
}

func TestFleetExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(fleetExample + "*.yaml")
	if err != nil || len(files) != 5 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, object := range fleetDocuments(t, text) {
				switch object := object.(type) {
				case *batchv1.Job:
					fleetJob(t, object)
				case *argoWorkflow:
					fleetArgo(t, object)
				}
			}
		})
	}
}

func fleetJob(t *testing.T, job *batchv1.Job) {
	t.Helper()
	spec := job.Spec.Template.Spec
	if spec.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("restart policy %s: a pod failure policy wants Never", spec.RestartPolicy)
	}
	if spec.AutomountServiceAccountToken == nil {
		t.Error("the token is mounted by chance")
	}
	fleetPod(t, spec.SecurityContext)
	shards := 0
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		shards = max(shards, fleetContainer(t, &c, spec.Volumes))
	}
	if job.Spec.CompletionMode == nil {
		return // the merge Job
	}
	if *job.Spec.CompletionMode != batchv1.IndexedCompletion || *job.Spec.BackoffLimitPerIndex < 1 || *job.Spec.Parallelism > *job.Spec.Completions {
		t.Errorf("job %+v", job.Spec)
	}
	if shards > 0 && shards != int(*job.Spec.Completions) {
		t.Errorf("%d shards in %d completions", shards, *job.Spec.Completions)
	}
	rules := job.Spec.PodFailurePolicy.Rules
	first, last := rules[0], rules[len(rules)-1]
	if first.Action != batchv1.PodFailurePolicyActionIgnore || first.OnPodConditions[0].Type != corev1.DisruptionTarget || first.OnPodConditions[0].Status != corev1.ConditionTrue {
		t.Errorf("an eviction: %+v", first)
	}
	codes := last.OnExitCodes
	if last.Action != batchv1.PodFailurePolicyActionFailIndex || codes.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn || !slices.Equal(codes.Values, []int32{command.Usage, command.Bug}) {
		t.Errorf("unreadable input: %+v", last)
	}
	for _, rule := range rules[1:] {
		name := *rule.OnExitCodes.ContainerName
		if !slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool { return c.Name == name }) {
			t.Errorf("a rule for the container %s, which is not there", name)
		}
	}
}

func fleetPod(t *testing.T, s *corev1.PodSecurityContext) {
	t.Helper()
	if !*s.RunAsNonRoot || *s.RunAsUser == 0 || *s.FSGroup == 0 || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("pod security %+v", s)
	}
}

// fleetContainer returns the number of shards of a container's command, or 0 if it is not a shard.
func fleetContainer(t *testing.T, c *corev1.Container, volumes []corev1.Volume) (shards int) {
	t.Helper()
	s := c.SecurityContext
	if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
		t.Errorf("%s: security %+v", c.Name, s)
	}
	if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Memory().IsZero() {
		t.Errorf("%s: no memory limit, or no request: %+v", c.Name, c.Resources)
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("%s mounts %s, which is not there", c.Name, m.Name)
		}
	}
	if strings.HasPrefix(c.Image, "example.com/store-tool:") {
		return 0
	}
	if c.Image != fleetImage {
		t.Errorf("%s: image %s, want %s", c.Name, c.Image, fleetImage)
	}
	flags := pflag.NewFlagSet(c.Args[0], pflag.ContinueOnError)
	switch c.Args[0] {
	case "check":
		(&check.Options{}).Flags(flags)
	case "merge":
		(&merge.Options{}).Flags(flags)
	default:
		t.Fatalf("%s: %v", c.Name, c.Args)
	}
	if err := flags.Parse(c.Args[1:]); err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	flag := func(name string) string { return flags.Lookup(name).Value.String() }
	if out := flag("out"); out != "" && !mounted(c, filepath.Dir(out), false) {
		t.Errorf("%s writes to %s, which is not a volume", c.Name, out)
	}
	for _, path := range flags.Args() {
		if !mounted(c, path, true) && !mounted(c, filepath.Dir(path), true) {
			t.Errorf("%s reads %s, which is not a volume", c.Name, path)
		}
	}
	if c.Args[0] == "merge" {
		return 0
	}
	if flag("crd") != "[/crds]" || !mounted(c, "/crds", true) || flag("output") != "jsonl" || flag("findings-exit-code") != "0" || flag("no-config") != "true" {
		t.Errorf("%s: %v", c.Name, c.Args)
	}
	if run := flag("run"); run != "{{workflow.uid}}" && (run != "$(RUN)" || !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
		return e.Name == "RUN" && e.ValueFrom.FieldRef.FieldPath == "metadata.labels['batch.kubernetes.io/controller-uid']"
	})) {
		t.Errorf("%s: a report of another run would be accepted: %q", c.Name, run)
	}
	if flag("shard") == "" && flag("sources") == "0" {
		t.Errorf("%s: a missing report would not be detected", c.Name)
	}
	if flag("shard") == "" && flag("source") == "" {
		t.Errorf("%s: its reports cannot be merged", c.Name)
	}
	of := flag("sources")
	if _, n, ok := strings.Cut(flag("shard"), "/"); ok {
		of = n
	}
	shards, _ = strconv.Atoi(of)
	return shards
}

func mounted(c *corev1.Container, path string, toRead bool) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == path && (toRead || !m.ReadOnly) })
}

var argoExpression = regexp.MustCompile(`\{\{[a-z.]+\}\}`)

func fleetArgo(t *testing.T, w *argoWorkflow) {
	t.Helper()
	fleetPod(t, w.Spec.SecurityContext)
	if w.Spec.Automount == nil || !*w.Spec.Automount { // the service account in job.yaml turns it off
		t.Error("the pods have no token")
	}
	names := []string{}
	for _, template := range w.Spec.Templates {
		names = append(names, template.Name)
		if template.Container != nil {
			fleetContainer(t, template.Container, w.Spec.Volumes)
		}
	}
	for _, template := range w.Spec.Templates {
		for _, steps := range template.Steps {
			for _, step := range steps {
				if !slices.Contains(names, step.Template) {
					t.Errorf("step %s: no template %s", step.Name, step.Template)
				}
			}
		}
	}
	text, err := yaml.Marshal(w)
	if err != nil || !slices.Contains(names, w.Spec.Entrypoint) {
		t.Fatalf("%v, %v", names, err)
	}
	for _, expression := range argoExpression.FindAllString(string(text), -1) {
		if !slices.Contains([]string{"{{item}}", "{{inputs.parameters.shard}}", "{{workflow.parameters.shards}}", "{{workflow.uid}}"}, expression) {
			t.Errorf("%s: no value is set", expression)
		}
	}
}

var imageName = regexp.MustCompile(`(?m)^\s*(?:- )?image: (?:&\w+ )?([^\s*]\S*)|^FROM (\S+)`)

// An image other than scratch is pinned by a digest, or has a tag and is in a registry below example.com, because the
// reader replaces it.
func TestImages(t *testing.T) {
	t.Parallel()
	reserved := regexp.MustCompile(`^(?:\w+\.)?example\.com/[a-z-]+:(?:dev|v?\d[\d.]*)$`)
	var files []string
	for _, glob := range []string{"examples/fleet/*.yaml", "examples/admission/manifests/*.yaml", "examples/*/Containerfile", "docs/*.yaml"} {
		found, err := filepath.Glob("../../" + glob)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", glob, found, err)
		}
		files = append(files, found...)
	}
	images := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range imageName.FindAllStringSubmatch(string(text), -1) {
			images++
			if image := match[1] + match[2]; image != "scratch" && !strings.Contains(image, "@sha256:") && !reserved.MatchString(image) {
				t.Errorf("%s: image %s: want a digest, or a tag in a registry below example.com", file, image)
			}
		}
	}
	if images < 9 {
		t.Errorf("%d images, want those of all examples", images)
	}
}

func TestFleetJob(t *testing.T) {
	t.Parallel()
	text, stderr, code := shardRun(t, "manifests", "job", "--crd", crontabCRD, "--image", fleetImage, "--shards", "20")
	want, err := os.ReadFile(fleetExample + "job.yaml")
	if err != nil || code != 0 {
		t.Fatalf("%v, %d: %s", err, code, stderr)
	}
	if text != string(want) {
		if !*update {
			t.Errorf("examples/fleet/job.yaml differs from the output of celadon manifests job (-update rewrites it):\n%s", text)
		} else if err := os.WriteFile(fleetExample+"job.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	objects := fleetDocuments(t, []byte(text))
	account, role, binding := objects[0].(*corev1.ServiceAccount), objects[1].(*rbacv1.ClusterRole), objects[2].(*rbacv1.ClusterRoleBinding)
	config, claim, job := objects[3].(*corev1.ConfigMap), objects[4].(*corev1.PersistentVolumeClaim), objects[5].(*batchv1.Job)
	var crd, given apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict([]byte(config.Data["crontabs.stable.example.com.yaml"]), &crd); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(crontabCRD)
	if err != nil || yaml.Unmarshal(source, &given) != nil || len(crd.Spec.Versions) != len(given.Spec.Versions) {
		t.Errorf("the ConfigMap holds %+v: %v", crd, err)
	}
	for _, rule := range role.Rules {
		if !slices.Equal(rule.Verbs, []string{"list"}) || slices.Contains(rule.Resources, "*") || slices.Contains(rule.APIGroups, "*") {
			t.Errorf("rule %+v", rule)
		}
	}
	last := role.Rules[len(role.Rules)-1]
	if len(role.Rules) != 2 || last.APIGroups[0] != crd.Spec.Group || last.Resources[0] != crd.Spec.Names.Plural {
		t.Errorf("rules %+v", role.Rules)
	}
	pod := job.Spec.Template.Spec
	for what, ok := range map[string]bool{
		"the role is bound":     binding.RoleRef.Name == role.Name && binding.Subjects[0].Name == account.Name && binding.Subjects[0].Namespace == account.Namespace,
		"the account is used":   pod.ServiceAccountName == account.Name && *pod.AutomountServiceAccountToken && !*account.AutomountServiceAccountToken,
		"the CRDs are mounted":  pod.Volumes[0].ConfigMap.Name == config.Name,
		"the reports are kept":  pod.Volumes[1].PersistentVolumeClaim.ClaimName == claim.Name,
		"twenty":                *job.Spec.Completions == 20,
		"its own CRDs are fine": crd.Name == given.Name,
	} {
		if !ok {
			t.Errorf("not true: %s", what)
		}
	}
}

func TestFleetJobCRDs(t *testing.T) {
	t.Parallel()
	crd, err := os.ReadFile(crontabCRD)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		"good/bases/crd.yaml":     string(crd),
		"good/kustomization.yaml": "resources: [bases/crd.yaml]\n",
		"good/patches/patch.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: crontabs.stable.example.com}\n",
		"good/samples/a.yaml":     goodCronTab,
		"deployments.yaml":        strings.NewReplacer("crontabs.stable.example.com", "crontabs.apps", "stable.example.com", "apps", "plural: crontabs", "plural: deployments").Replace(string(crd)),
		"all.yaml":                strings.Replace(string(crd), "plural: crontabs", `plural: "*"`, 1),
		"escape.yaml":             strings.Replace(string(crd), "group: stable.example.com", `group: "x\"]\n- apiGroups: [\"\"]\n  resources: [secrets]"`, 1),
		"twice/a.yaml":            string(crd),
		"twice/b.yaml":            string(crd),
		"large.yaml":              strings.Replace(string(crd), "type: object\n", "type: object\n        x-kubernetes-validations: [{rule: \"true\", message: \""+strings.Repeat("m", 1<<20)+"\"}]\n", 1),
		"none/x.yaml":             goodCronTab,
	})
	if out, stderr, code := shardRun(t, "manifests", "job", "--image", fleetImage, "--crd", filepath.Join(dir, "good")); code != command.OK || len(fleetDocuments(t, []byte(out))) != 6 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for name, want := range map[string]string{
		"deployments.yaml": "not the name of a CRD",
		"all.yaml":         "not the name of a CRD",
		"escape.yaml":      "not the name of a CRD",
		"twice":            "is a duplicate",
		"large.yaml":       "the limit of a ConfigMap",
		"none":             "no CustomResourceDefinition in",
		"nowhere":          "no such file or directory",
	} {
		if out, stderr, code := shardRun(t, "manifests", "job", "--image", fleetImage, "--crd", filepath.Join(dir, name)); code != command.Usage || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, want %q: %s%.2000s", name, code, want, out, stderr)
		}
	}
	if out, stderr, code := shardRun(t, "manifests", "job", "--crd", crontabCRD); code != command.Usage || out != "" || !strings.Contains(stderr, "use --image IMAGE") {
		t.Errorf("without an image: exit code %d: %s%s", code, out, stderr)
	}
	for _, args := range [][]string{
		{}, {"--crd", crontabCRD, "--shards", "0"}, {"--crd", crontabCRD, "--shards", "10001"}, {"--crd", crontabCRD, "--parallelism", "0"},
		{"--crd", crontabCRD, "--name", "A b"}, {"--crd", crontabCRD, "--namespace", "x\ny"}, {"--crd", crontabCRD, "--image", "a b"}, {"--crd", crontabCRD, "--reports", ""},
	} {
		if out, stderr, code := shardRun(t, append([]string{"manifests", "job", "--image", fleetImage}, args...)...); code != command.Usage || out != "" || stderr == "" {
			t.Errorf("%q: exit code %d: %s%s", args, code, out, stderr)
		}
	}
}
