package serve

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const admissionExample = "../../../../examples/admission/"

type manifests struct {
	crds       corev1.ConfigMap
	account    corev1.ServiceAccount
	deployment appsv1.Deployment
	service    corev1.Service
	budget     policyv1.PodDisruptionBudget
	webhook    admissionregistrationv1.ValidatingWebhookConfiguration
	namespace  corev1.Namespace
}

// certManager has the fields of cert-manager.io/v1 that the example uses, named as in its API
// reference.
type certManager struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		SelfSigned *struct{} `json:"selfSigned"`
		CA         *struct {
			SecretName string `json:"secretName"`
		} `json:"ca"`
		IsCA        bool            `json:"isCA"`
		CommonName  string          `json:"commonName"`
		SecretName  string          `json:"secretName"`
		DNSNames    []string        `json:"dnsNames"`
		Duration    metav1.Duration `json:"duration"`
		RenewBefore metav1.Duration `json:"renewBefore"`
		PrivateKey  struct {
			Algorithm      string `json:"algorithm"`
			RotationPolicy string `json:"rotationPolicy"`
			Size           int    `json:"size"`
		} `json:"privateKey"`
		IssuerRef struct {
			Name string `json:"name"`
			Kind string `json:"kind"`
		} `json:"issuerRef"`
	} `json:"spec"`
}

func decodeStrictly(t *testing.T, path string, into map[string]any) {
	t.Helper()
	for _, text := range yamlDocuments(t, path) {
		var meta metav1.TypeMeta
		if err := yaml.Unmarshal(text, &meta); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		obj := into[meta.APIVersion+" "+meta.Kind]
		if obj == nil {
			t.Errorf("%s: %s %s is not tested", path, meta.APIVersion, meta.Kind)
			continue
		}
		if err := yaml.UnmarshalStrict(text, obj); err != nil {
			t.Errorf("%s: %s: %v", path, meta.Kind, err)
		}
	}
}

func yamlDocuments(t *testing.T, path string) [][]byte {
	t.Helper()
	var out [][]byte
	documents := yamlstream.NewYAMLReader(bufio.NewReader(strings.NewReader(read(t, path))))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
}

func readManifests(t *testing.T) *manifests {
	t.Helper()
	m := &manifests{}
	files := glob(t, admissionExample+"manifests/*.yaml")
	if len(files) != 5 {
		t.Fatalf("files: %v", files)
	}
	for _, file := range files {
		decodeStrictly(t, file, map[string]any{
			"v1 Namespace": &m.namespace, "v1 ConfigMap": &m.crds, "v1 ServiceAccount": &m.account,
			"apps/v1 Deployment": &m.deployment, "v1 Service": &m.service, "policy/v1 PodDisruptionBudget": &m.budget,
			"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": &m.webhook,
		})
	}
	return m
}

func TestManifests(t *testing.T) {
	t.Parallel()
	m := readManifests(t)
	pod := m.deployment.Spec.Template
	for what, ok := range map[string]bool{
		"two replicas":           *m.deployment.Spec.Replicas == 2,
		"one may be disrupted":   m.budget.Spec.MinAvailable.IntValue() == 1,
		"the Service selects":    m.service.Spec.Selector[appLabel] == pod.Labels[appLabel] && pod.Labels[appLabel] != "",
		"the Deployment selects": m.deployment.Spec.Selector.MatchLabels[appLabel] == pod.Labels[appLabel],
		"the budget selects":     m.budget.Spec.Selector.MatchLabels[appLabel] == pod.Labels[appLabel],
		"service account":        pod.Spec.ServiceAccountName == m.account.Name && !*pod.Spec.AutomountServiceAccountToken,
		"non-root":               *pod.Spec.SecurityContext.RunAsNonRoot && *pod.Spec.SecurityContext.RunAsUser != 0,
		"read-only":              *pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem,
		"port":                   m.service.Spec.Ports[0].TargetPort.StrVal == pod.Spec.Containers[0].Ports[0].Name,
		"the CRDs are mounted":   pod.Spec.Volumes[0].ConfigMap.Name == m.crds.Name,
		"the key is not public":  *pod.Spec.Volumes[1].Secret.DefaultMode == 0o440,
	} {
		if !ok {
			t.Errorf("not true: %s", what)
		}
	}
	for _, obj := range []metav1.Object{&m.crds, &m.account, &m.deployment, &m.service, &m.budget} {
		if obj.GetNamespace() != m.namespace.Name {
			t.Errorf("%s is in namespace %q", obj.GetName(), obj.GetNamespace())
		}
	}
	for _, probe := range []*corev1.Probe{pod.Spec.Containers[0].ReadinessProbe, pod.Spec.Containers[0].LivenessProbe, pod.Spec.Containers[0].StartupProbe} {
		if probe.HTTPGet.Scheme != corev1.URISchemeHTTPS || probe.HTTPGet.Port.StrVal != "https" {
			t.Errorf("probe %+v", probe.HTTPGet)
		}
	}
}

const appLabel = "app.kubernetes.io/name"

func TestManifestFlags(t *testing.T) {
	t.Parallel()
	pod := readManifests(t).deployment.Spec.Template.Spec
	container := pod.Containers[0]
	if container.Args[0] != "serve" {
		t.Errorf("command %s", container.Args[0])
	}
	var o Options
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.Flags(flags)
	if err := flags.Parse(container.Args[1:]); err != nil {
		t.Fatal(err)
	}
	flag := func(name string) string { return flags.Lookup(name).Value.String() }
	if got, want := flag("crd"), "["+container.VolumeMounts[0].MountPath+"]"; got != want {
		t.Errorf("--crd %s, mounted at %s", got, want)
	}
	for _, name := range []string{"tls-cert", "tls-key"} {
		if filepath.Dir(flag(name)) != container.VolumeMounts[1].MountPath {
			t.Errorf("--%s %s, mounted at %s", name, flag(name), container.VolumeMounts[1].MountPath)
		}
	}
	if want := ":8443"; flag("listen") != want || container.Ports[0].ContainerPort != 8443 {
		t.Errorf("--listen %s, port %d", flag("listen"), container.Ports[0].ContainerPort)
	}
	drain, err := flags.GetDuration("drain")
	if err != nil || drain+stopTimeout >= seconds(*pod.TerminationGracePeriodSeconds) {
		t.Errorf("--drain %s and %s for open requests, %d s of grace", drain, stopTimeout, *pod.TerminationGracePeriodSeconds)
	}
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

func TestManifestWebhook(t *testing.T) {
	t.Parallel()
	m := readManifests(t)
	hook := m.webhook.Webhooks[0]
	service := hook.ClientConfig.Service
	if service.Name != m.service.Name || service.Namespace != m.service.Namespace || *service.Port != m.service.Spec.Ports[0].Port || *service.Path != "/validate" {
		t.Errorf("client config %+v", service)
	}
	if hook.FailurePolicy == nil || *hook.SideEffects != admissionregistrationv1.SideEffectClassNone || !slices.Contains(hook.AdmissionReviewVersions, "v1") || seconds(int64(*hook.TimeoutSeconds)) > maxTimeout {
		t.Errorf("webhook %+v", hook)
	}
	if len(m.crds.Data) != 1 || m.crds.Data["crontab.yaml"] != read(t, admissionExample+"crds/crontab.yaml") {
		t.Error("the ConfigMap does not hold the files of crds/")
	}
	for name, text := range m.crds.Data {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		plural := crd.Spec.Names.Plural
		if rule := hook.Rules[0]; !slices.Equal(rule.APIGroups, []string{crd.Spec.Group}) || !slices.Equal(rule.Resources, []string{plural, plural + "/status"}) {
			t.Errorf("rule %+v does not match %s", rule, crd.Name)
		}
	}
	var review admissionv1.AdmissionReview
	if err := yaml.UnmarshalStrict([]byte(read(t, admissionExample+"review.json")), &review); err != nil || review.Request == nil {
		t.Fatalf("review.json: %v", err)
	}
	var written, sent struct{ Spec map[string]any }
	err := errors.Join(yaml.Unmarshal([]byte(read(t, admissionExample+"nightly.yaml")), &written), yaml.Unmarshal(review.Request.Object.Raw, &sent))
	if diff := cmp.Diff(written, sent); err != nil || diff != "" {
		t.Errorf("review.json is not of nightly.yaml: %v\n%s", err, diff)
	}
}

func TestManifestCertManager(t *testing.T) {
	t.Parallel()
	m := readManifests(t)
	objects := map[string]*certManager{}
	for _, text := range yamlDocuments(t, admissionExample+"cert-manager.yaml") {
		obj := &certManager{}
		if err := yaml.UnmarshalStrict(text, obj); err != nil || obj.APIVersion != "cert-manager.io/v1" {
			t.Fatalf("%s: %v", obj.APIVersion, err)
		}
		objects[obj.Kind+" "+obj.Name] = obj
	}
	cert := objects["Certificate celadon"]
	if len(objects) != 4 || cert == nil {
		t.Fatalf("objects: %v", objects)
	}
	for name, obj := range objects {
		if obj.Kind == "Certificate" && objects["Issuer "+obj.Spec.IssuerRef.Name] == nil {
			t.Errorf("%s has no issuer", name)
		}
		if obj.Spec.CA != nil && objects["Certificate celadon-ca"].Spec.SecretName != obj.Spec.CA.SecretName {
			t.Errorf("%s has no secret", name)
		}
	}
	service := m.service.Name + "." + m.service.Namespace + ".svc"
	if cert.Spec.SecretName != m.deployment.Spec.Template.Spec.Volumes[1].Secret.SecretName || !slices.Equal(cert.Spec.DNSNames, []string{service}) {
		t.Errorf("certificate %+v", cert.Spec)
	}
	if got, want := m.webhook.Annotations["cert-manager.io/inject-ca-from"], cert.Namespace+"/"+cert.Name; got != want {
		t.Errorf("CA from %s, want %s", got, want)
	}
}

func TestManifestScripts(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "openssl", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s here", tool)
		}
	}
	dir := t.TempDir()
	if out, err := exec.Command(admissionExample+"certificate.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("certificate.sh: %v\n%s", err, out)
	}
	var secret corev1.Secret
	var webhook admissionregistrationv1.ValidatingWebhookConfiguration
	decodeStrictly(t, filepath.Join(dir, "secret.yaml"), map[string]any{"v1 Secret": &secret})
	decodeStrictly(t, filepath.Join(dir, "webhook.yaml"), map[string]any{"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": &webhook})
	if !bytes.Equal(secret.Data["tls.crt"], []byte(read(t, filepath.Join(dir, "tls.crt")))) || string(webhook.Webhooks[0].ClientConfig.CABundle) != read(t, filepath.Join(dir, "ca.crt")) {
		t.Error("secret.yaml or webhook.yaml do not hold the certificate")
	}
	var errs bytes.Buffer
	try := exec.Command(admissionExample + "try.sh")
	try.Stderr = &errs
	out, err := try.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("try.sh: %v\n%s%s", err, out, &errs)
	}
	var review admissionv1.AdmissionReview
	if err := yaml.UnmarshalStrict(out, &review); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if r := review.Response; r == nil || r.Allowed || r.Result.Code != http.StatusUnprocessableEntity || len(r.Result.Details.Causes) != 2 {
		t.Errorf("try.sh: %s", out)
	}
}
