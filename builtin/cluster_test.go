package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
)

func objects(t testing.TB, stream string) (list []map[string]any) {
	t.Helper()
	for doc := range strings.SplitSeq(stream, "---\n") {
		data, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		object, err := engine.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, object)
	}
	return list
}

const clusterObjects = `
apiVersion: v1
kind: Namespace
metadata: {name: strict, labels: {pod-security.kubernetes.io/enforce: baseline, pod-security.kubernetes.io/warn: restricted}}
---
apiVersion: v1
kind: Namespace
metadata: {name: gone}
status: {phase: Terminating}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: strict}
spec: {limits: [{type: Container, max: {memory: 1Gi}}]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: invalid, namespace: other}
spec: {limits: [{type: Container, max: {memory: 1Mi}, min: {memory: 1Gi}}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: sandbox}
handler: runsc
overhead: {podFixed: {memory: 100Mi}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: example.com/disk
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: public, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}
spec: {controller: example.com/ingress}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: builder, namespace: strict}
automountServiceAccountToken: false
imagePullSecrets: [{name: registry}]
`

func TestCluster(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	cluster, err := NewCluster(ctx, Plugins(true), objects(t, clusterObjects))
	if err != nil {
		t.Fatal(err)
	}
	pod := func(namespace, spec string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: " + namespace + "}\nspec: {containers: [{name: c, image: i}], " + spec + "}\n"
	}
	for _, test := range []struct {
		name, object string
		failure      string // part of the message; "" means accepted
		warning      string // part of one
		persisted    string // part of it, as JSON
		assumed      string
	}{
		{name: "plain pod", object: pod("other", ""), persisted: `"name":"kube-api-access-00000","projected"`},
		{name: "tolerations", object: pod("other", ""), persisted: `"key":"node.kubernetes.io/not-ready"`},
		{name: "account", object: pod("strict", "serviceAccountName: builder"), persisted: `"imagePullSecrets":[{"name":"registry"}]`,
			warning: `would violate PodSecurity "restricted:latest"`},
		{name: "unknown account", object: pod("other", "serviceAccountName: robot"), assumed: "ServiceAccount other/robot"},
		{name: "unknown account again", object: pod("other", "serviceAccountName: robot"), assumed: "ServiceAccount other/robot"},
		{name: "priority", object: pod("other", "priorityClassName: high"), persisted: `"priority":1000`},
		{name: "system priority", object: pod("other", "priorityClassName: system-node-critical"), persisted: `"priority":2000001000`},
		{name: "unknown priority", object: pod("other", "priorityClassName: low"), assumed: "PriorityClass low"},
		{name: "wrong priority", object: pod("other", "priorityClassName: high, priority: 7"), failure: "computed 1000 from"},
		{name: "overhead", object: pod("other", "runtimeClassName: sandbox"), persisted: `"overhead":{"memory":"100Mi"}`},
		{name: "unknown runtime", object: pod("other", "runtimeClassName: other"), assumed: "RuntimeClass other"},
		{name: "enforced", object: pod("strict", "hostNetwork: true"), failure: `violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`},
		{name: "limited", object: pod("strict", "initContainers: [{name: i, image: i, resources: {limits: {memory: 2Gi}}}]"),
			failure: "maximum memory usage per Container is 1Gi, but limit is 2Gi"},
		{name: "limit by default", object: pod("strict", ""), persisted: `"memory":"1Gi"`},
		{name: "invalid limit", object: pod("other", "restartPolicy: Never")},
		{name: "terminating", object: pod("gone", ""), failure: "because it is being terminated"},
		{name: "template", object: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: strict}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {hostPID: true, containers: [{name: c, image: i}]}}}}`,
			warning: "host namespaces (hostPID=true)"},
		{name: "claim", object: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
			persisted: `"storageClassName":"standard"`},
		{name: "ingress", object: `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i}, spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}}`,
			persisted: `"ingressClassName":"public"`},
		{name: "second default class", object: `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: d}, value: 1, globalDefault: true}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var assumed []string
			res, err := Validate(ctx, Request{
				Object: objects(t, test.object)[0], Cluster: cluster, Assume: func(o string) { assumed = append(assumed, o) },
			})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case test.failure == "" && !res.Allowed, test.failure != "" && (res.Allowed || !strings.Contains(res.Failure.Message, test.failure)):
				t.Errorf("failure %v, want %q", res.Failure, test.failure)
			case test.warning != "" && !slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, test.warning) }):
				t.Errorf("warnings %q, want %q", res.Warnings, test.warning)
			}
			without, err := Validate(ctx, Request{Object: objects(t, test.object)[0], Cluster: cluster, NoObject: true})
			if err != nil || without.Object != nil {
				t.Errorf("NoObject: %v, %v", without, err)
			}
			with := *res
			if with.Object = nil; jsonOf(t, &with) != jsonOf(t, without) {
				t.Errorf("NoObject: got %s, want %s", jsonOf(t, without), jsonOf(t, &with))
			}
			if got := jsonOf(t, res.Object); !strings.Contains(got, test.persisted) {
				t.Errorf("persisted %s, want %s", got, test.persisted)
			}
			if got := strings.Join(slices.Compact(assumed), ", "); got != test.assumed {
				t.Errorf("assumed %q, want %q", got, test.assumed)
			}
		})
	}
}

func TestClusterUnknownPlugin(t *testing.T) {
	t.Parallel()
	if _, err := NewCluster(context.Background(), []string{"LimitRanger", "ResourceQuota"}, nil); err == nil || !strings.Contains(err.Error(), "ResourceQuota") {
		t.Errorf("error %v", err)
	}
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestClusterLimit(t *testing.T) {
	t.Parallel()
	class := objects(t, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, value: 1}")[0]
	var limit *LimitError
	_, err := NewCluster(context.Background(), Plugins(true), slices.Repeat([]map[string]any{class}, maxScanned+1))
	if !errors.As(err, &limit) {
		t.Errorf("error %v, want a LimitError", err)
	}
}
