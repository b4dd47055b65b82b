package kube

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

type mutator struct{ *rand.Rand }

var (
	podChanges = []string{
		`{"hostNetwork":true}`, `{"hostPID":true}`, `{"hostIPC":true}`, `{"automountServiceAccountToken":false}`, `{"automountServiceAccountToken":true}`,
		`{"volumes":[{"name":"v","hostPath":{"path":"/var/run/docker.sock"}}]}`, `{"volumes":[{"name":"v","emptyDir":{}},{"name":"w","hostPath":{"path":"/etc"}}]}`,
		`{"securityContext":{"runAsNonRoot":true}}`, `{"securityContext":{"runAsUser":0}}`, `{"securityContext":{"runAsUser":1000,"runAsGroup":1000,"fsGroup":1}}`,
		`{"securityContext":{"seLinuxOptions":{"type":"container_t"}}}`, `{"securityContext":{"seccompProfile":{"type":"Unconfined"}}}`, `{"securityContext":{"sysctls":[{"name":"kernel.msgmax","value":"1"}]}}`,
		`{"serviceAccountName":"robot"}`, `{"nodeSelector":{"a":"b"}}`, `{"tolerations":[{"operator":"Exists"}]}`,
		`{"initContainers":[{"name":"i","image":"busybox","securityContext":{"privileged":true}}]}`, `{"imagePullSecrets":[{"name":"s"}]}`,
	}
	containerChanges = []string{
		`{"image":"nginx:1.2"}`, `{"image":"docker.io/library/nginx"}`, `{"image":"registry.example.com/a@sha256:0123456789012345678901234567890123456789012345678901234567890123"}`,
		`{"securityContext":{"privileged":true}}`, `{"securityContext":{"privileged":false,"allowPrivilegeEscalation":false}}`, `{"securityContext":{"readOnlyRootFilesystem":true}}`,
		`{"securityContext":{"capabilities":{"add":["NET_ADMIN","SYS_ADMIN"]}}}`, `{"securityContext":{"capabilities":{"drop":["ALL"]}}}`, `{"securityContext":{"runAsUser":0,"runAsNonRoot":false}}`,
		`{"securityContext":{"procMount":"Default"}}`, `{"securityContext":{"seccompProfile":{"type":"RuntimeDefault"}}}`,
		`{"resources":{"limits":{"cpu":"1","memory":"1Gi"}}}`, `{"resources":{"requests":{"cpu":"100m","memory":"1Mi"},"limits":{"cpu":"200m","memory":"2Mi"}}}`,
		`{"ports":[{"containerPort":22,"hostPort":22}]}`, `{"env":[{"name":"DB_PASSWORD","value":"secret"},{"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}`,
		`{"livenessProbe":{"httpGet":{"path":"/","port":80}}}`, `{"readinessProbe":{"tcpSocket":{"port":80}}}`, `{"imagePullPolicy":"Always"}`, `{"command":["sh","-c","/usr/sbin/sshd"]}`,
	}
	metadataChanges = []string{
		`{"labels":{"app":"y","environment":"production"}}`, `{"labels":{"owner":"team"}}`, `{"annotations":{"a":"b"}}`, `{"labels":{"app":"x","app.kubernetes.io/name":"x","app.kubernetes.io/component":"y"}}`,
		`{"labels":null}`, `{"annotations":{"kubernetes.io/ingress.class":"nginx","seccomp.security.alpha.kubernetes.io/pod":"unconfined"}}`, `{"labels":{"app":"x","prod":"true","color":"blue"}}`, `{}`,
	}
	words  = []string{"a", "latest", "https://example.com", "production", "10.0.0.1", "", "Always", "kube-system", "true", "1Gi"}
	fields = regexp.MustCompile(`\b(?:object|oldObject|variables\.\w+)((?:\.\??[A-Za-z]\w*)+)`)
)

func (m *mutator) object(o exchange.Object) exchange.Object {
	o = exchange.Object(merged(o, exchange.Object{"metadata": object(m.pick(metadataChanges))}).(exchange.Object))
	changed := false
	o = m.pods(o, &changed).(exchange.Object)
	if !changed {
		for range 1 + m.IntN(2) {
			o = m.any(o, true).(exchange.Object)
		}
	}
	return o
}

func (m *mutator) pick(items []string) string { return items[m.IntN(len(items))] }

func (m *mutator) pods(v any, changed *bool) any {
	o, ok := v.(exchange.Object)
	if !ok {
		return v
	}
	if list, ok := o["containers"].([]any); ok {
		*changed = true
		for range m.IntN(3) {
			o = merged(o, object(m.pick(podChanges))).(exchange.Object)
		}
		list = slices.Clone(list)
		for range m.IntN(4) {
			i := m.IntN(len(list))
			list[i] = merged(list[i], object(m.pick(containerChanges)))
		}
		o = maps.Clone(o)
		o["containers"] = list
		return o
	}
	o = maps.Clone(o)
	for _, key := range slices.Sorted(maps.Keys(o)) {
		o[key] = m.pods(o[key], changed)
	}
	return o
}

// any changes a value below v at random. root is set for the object itself.
func (m *mutator) any(v any, root bool) any {
	switch v := v.(type) {
	case exchange.Object:
		keys := slices.DeleteFunc(slices.Sorted(maps.Keys(v)), func(key string) bool {
			return root && (key == "apiVersion" || key == "kind" || key == "metadata")
		})
		if len(keys) == 0 {
			return v
		}
		key := m.pick(keys)
		out := maps.Clone(v)
		if !root && m.IntN(6) == 0 {
			delete(out, key)
		} else {
			out[key] = m.any(v[key], false)
		}
		return out
	case []any:
		if len(v) == 0 {
			return v
		}
		out := slices.Clone(v)
		i := m.IntN(len(v))
		if m.IntN(4) == 0 {
			return slices.Delete(out, i, i+1)
		}
		out[i] = m.any(v[i], false)
		return out
	case bool:
		return !v
	case string:
		return m.pick(words)
	case float64:
		return v + float64(m.IntN(5)) - 2
	case int64:
		return v + m.Int64N(5) - 2
	}
	return v
}

// custom returns an object with values at most of the paths that expressions mention.
func (m *mutator) custom(apiVersion, kind, name, expressions string) exchange.Object {
	o := exchange.Object{"apiVersion": apiVersion, "kind": kind, "metadata": exchange.Object{"name": name, "namespace": "ns"}}
	for _, match := range fields.FindAllStringSubmatch(expressions, -1) {
		path := strings.Split(strings.ReplaceAll(strings.TrimPrefix(match[1], "."), "?", ""), ".")
		if path[0] == "metadata" || path[0] == "apiVersion" || path[0] == "kind" || m.IntN(4) == 0 {
			continue
		}
		at := o
		for i, field := range path {
			if i == len(path)-1 {
				if at[field] == nil {
					at[field] = m.value()
				}
				break
			}
			below, ok := at[field].(exchange.Object)
			if !ok {
				below = exchange.Object{}
				at[field] = below
			}
			at = below
		}
	}
	return o
}

func (m *mutator) value() any {
	switch m.IntN(8) {
	case 0:
		return m.IntN(2) == 0
	case 1:
		return m.IntN(9)
	case 2:
		return []any{m.pick(words), m.pick(words)}
	case 3:
		return []any{exchange.Object{"name": m.pick(words), "group": "", "kind": "Secret"}}
	case 4:
		return exchange.Object{"name": m.pick(words), "enabled": true}
	}
	return m.pick(words)
}
