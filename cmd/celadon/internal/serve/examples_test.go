package serve

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	webhookadmissionv1 "k8s.io/apiserver/pkg/admission/plugin/webhook/config/apis/webhookadmission/v1"
	apiserverv1 "k8s.io/apiserver/pkg/apis/apiserver/v1"
	"sigs.k8s.io/yaml"
)

// Memory in the sum of docs/admission.md besides the server's own constants. The values were
// measured: TestAttackServeFull holds connections that use the most memory, and a server with the
// example's CRD uses about 40 MiB at rest.
const (
	restMemory       = 64 << 20
	connectionMemory = 160 << 10
)

func memorySum() int64 {
	return restMemory + connectionsEach*defaultConcurrency*connectionMemory + bodyRoom + answerRoom + largeMemory + smallMemory
}

func goMemLimit(t *testing.T) string {
	t.Helper()
	for _, env := range readManifests(t).deployment.Spec.Template.Spec.Containers[0].Env {
		if env.Name == "GOMEMLIMIT" {
			return env.Value
		}
	}
	t.Fatal("the example sets no GOMEMLIMIT")
	return ""
}

func TestManifestMemory(t *testing.T) {
	t.Parallel()
	limit := readManifests(t).deployment.Spec.Template.Spec.Containers[0].Resources.Limits.Memory()
	soft := resource.MustParse(strings.TrimSuffix(goMemLimit(t), "B"))
	if sum := memorySum(); soft.Value() < sum || soft.Value() > sum+8<<20 {
		t.Errorf("GOMEMLIMIT is %s, want %.1f MiB, or a little more", soft.String(), float64(sum)/(1<<20))
	}
	if least := soft.Value() * 5 / 4; limit.Value() < least || limit.Value() > least+16<<20 {
		t.Errorf("the limit is %s, want GOMEMLIMIT and a quarter: %.1f MiB", limit, float64(least)/(1<<20))
	}
	page := strings.Join(strings.Fields(read(t, "../../../../docs/admission.md")), " ")
	for _, row := range []string{
		fmt.Sprintf("| %d MiB | the server and a few CRDs |", restMemory>>20),
		fmt.Sprintf("| %d MiB | %d connections (`--max-concurrent` times %d) of %d KiB: buffers, TLS, a header and %d KiB of a body |", connectionsEach*defaultConcurrency*connectionMemory>>20, connectionsEach*defaultConcurrency, connectionsEach, connectionMemory>>10, smallBody>>10),
		fmt.Sprintf("| %d MiB | larger bodies in transit or waiting |", bodyRoom>>20),
		fmt.Sprintf("| %d MiB | larger responses in transit |", answerRoom>>20),
		fmt.Sprintf("| %.1f MiB | large reviews being decided: %d JSON values of %d KiB, and %d bytes for each of a body |", float64(largeMemory)/(1<<20), maxValues, valueMemory>>10, byteMemory),
		fmt.Sprintf("| %d MiB | small reviews being decided, with the same estimate |", smallMemory>>20),
		fmt.Sprintf("| **%.1f MiB** | together", float64(memorySum())/(1<<20)),
		"`GOMEMLIMIT` is " + goMemLimit(t), "the pod's limit " + limit.String(),
	} {
		if !strings.Contains(page, row) {
			t.Errorf("the page does not say: %s", row)
		}
	}
}

// The policy must not be applied with the manifests, because its addresses are only examples.
func TestNetworkPolicy(t *testing.T) {
	t.Parallel()
	m := readManifests(t) // has no NetworkPolicy
	var policy networkingv1.NetworkPolicy
	decodeStrictly(t, admissionExample+"network-policy.yaml", map[string]any{"networking.k8s.io/v1 NetworkPolicy": &policy})
	pod := m.deployment.Spec.Template
	if policy.Namespace != m.namespace.Name || policy.Spec.PodSelector.MatchLabels[appLabel] != pod.Labels[appLabel] {
		t.Errorf("selects %+v in %s", policy.Spec.PodSelector, policy.Namespace)
	}
	if len(policy.Spec.PolicyTypes) != 2 || len(policy.Spec.Egress) != 0 || len(policy.Spec.Ingress) != 1 {
		t.Fatalf("policy %+v", policy.Spec)
	}
	in := policy.Spec.Ingress[0]
	if len(in.From) == 0 || len(in.Ports) != 1 || in.Ports[0].Port.StrVal != pod.Spec.Containers[0].Ports[0].Name {
		t.Errorf("ingress %+v", in)
	}
	for _, peer := range in.From {
		if peer.IPBlock != nil && !strings.HasPrefix(peer.IPBlock.CIDR, "192.0.2.") {
			t.Errorf("%s is an address of somebody's", peer.IPBlock.CIDR)
		}
	}
}

// kubeConfig has the fields of a kubeconfig that an API server reads for its webhooks.
type kubeConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Users      []struct {
		Name string `json:"name"`
		User struct {
			ClientCertificate string `json:"client-certificate"`
			ClientKey         string `json:"client-key"`
		} `json:"user"`
	} `json:"users"`
}

func TestAPIServerConfiguration(t *testing.T) {
	t.Parallel()
	var cfg apiserverv1.AdmissionConfiguration
	decodeStrictly(t, admissionExample+"apiserver/admission.yaml", map[string]any{"apiserver.config.k8s.io/v1 AdmissionConfiguration": &cfg})
	var file kubeConfig
	if err := yaml.UnmarshalStrict([]byte(read(t, admissionExample+"apiserver/kubeconfig.yaml")), &file); err != nil || file.APIVersion != "v1" || file.Kind != "Config" || len(file.Users) != 1 {
		t.Fatalf("%+v: %v", file, err)
	}
	m := readManifests(t)
	user := file.Users[0]
	if want := m.service.Name + "." + m.service.Namespace + ".svc"; user.Name != want || m.service.Spec.Ports[0].Port != 443 {
		t.Errorf("for %s, want %s", user.Name, want)
	}
	if filepath.Base(user.User.ClientCertificate) != "client.crt" || filepath.Base(user.User.ClientKey) != "client.key" {
		t.Errorf("shows %+v", user.User)
	}
	plugins := map[string]bool{}
	for _, plugin := range cfg.Plugins {
		plugins[plugin.Name] = true
		var hook webhookadmissionv1.WebhookAdmission
		dec := json.NewDecoder(strings.NewReader(string(plugin.Configuration.Raw)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&hook); err != nil || hook.Kind != "WebhookAdmissionConfiguration" || hook.APIVersion != "apiserver.config.k8s.io/v1" || filepath.Base(hook.KubeConfigFile) != "kubeconfig.yaml" {
			t.Errorf("%s: %+v, %v", plugin.Name, hook, err)
		}
	}
	if len(plugins) != 2 || !plugins["ValidatingAdmissionWebhook"] || !plugins["MutatingAdmissionWebhook"] {
		t.Errorf("plugins %v", plugins)
	}
}
