package builtin_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

// many returns n items, joined by commas. item can be a format for the number of the item.
func many(n int, item string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.Contains(item, "%") {
			fmt.Fprintf(&b, item, i)
		} else {
			b.WriteString(item)
		}
	}
	return b.String()
}

func podWith(container, spec string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"a"` + container + `}]` + spec + `}}`
}

// hostile returns objects that are deep or long. n scales their number of parts.
func hostile(n, depth int) map[string]string {
	return map[string]string{
		"deep":          podWith("", `,"x":`+strings.Repeat(`{"x":`, depth)+`1`+strings.Repeat("}", depth)),
		"deep list":     `{"apiVersion":"v1","kind":"ConfigMap","data":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "}",
		"deep revision": `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"a"},"revision":1,"data":` + strings.Repeat(`{"x":`, depth) + `1` + strings.Repeat("}", depth) + "}",
		"long value":    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"` + strings.Repeat("x", 15*n) + `"}}`,
		"longer value":  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"` + strings.Repeat("x", 30*n) + `"}}`,
		"too long":      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"` + strings.Repeat("x", 40*n) + `"}}`,
		"long name":     `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + strings.Repeat("x", 15*n) + `"}}`,
		"long image":    podWith(`,"imagePullPolicy":"`+strings.Repeat("x", 15*n)+`"`, ""),
		"long quantity": podWith(`,"resources":{"requests":{"cpu":"`+strings.Repeat("9", 15*n)+`"}}`, ""),
		"exponent":      podWith(`,"resources":{"requests":{"cpu":"1e999999999"}}`, ""),
		"fraction":      podWith(`,"resources":{"requests":{"cpu":"0.`+strings.Repeat("1", n)+`"}}`, ""),
		"containers":    podWith("", `,"initContainers":[`+many(n, `{"name":"c%d"}`)+`]`),
		"same names":    podWith("", `,"initContainers":[`+many(n, `{"name":"a"}`)+`]`),
		"env":           podWith(`,"env":[`+many(n, `{"name":"E%d"}`)+`]`, ""),
		"bad env":       podWith(`,"env":[`+many(n, `{"name":"="}`)+`]`, ""),
		"ports":         podWith(`,"ports":[`+many(n, `{"containerPort":%d}`)+`]`, ""),
		"same ports":    podWith(`,"ports":[`+many(n, `{"containerPort":80,"hostPort":80}`)+`]`, ""),
		"mounts":        podWith(`,"volumeMounts":[`+many(n, `{"name":"v","mountPath":"/%d"}`)+`]`, ""),
		"volumes":       podWith("", `,"volumes":[`+many(n, `{"name":"v%d"}`)+`]`),
		"quantities":    podWith(`,"resources":{"requests":{`+many(n, `"a.b/c%d":"1"`)+`}}`, ""),
		"tolerations":   podWith("", `,"tolerations":[`+many(n, `{"key":"k%d"}`)+`]`),
		"spread": podWith("", `,"topologySpreadConstraints":[`+
			many(n, `{"maxSkew":1,"topologyKey":"k%d","whenUnsatisfiable":"DoNotSchedule"}`)+`]`),
		"secrets": podWith("", `,"imagePullSecrets":[`+many(n, `{"name":"k"}`)+`]`),
		"sysctls": podWith("", `,"securityContext":{"sysctls":[`+many(n, `{"name":"k%d"}`)+`]}`),
		"keys":    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{` + many(n, `"k%d":""`) + `}}`,
		"bad keys": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{` +
			many(n, `"k %d":""`) + `}}`,
		"unknown fields":   `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},` + many(n, `"k%d":""`) + `}`,
		"duplicate fields": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},` + many(n, `"data":{}`) + `}`,
		"labels":           `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{` + many(n, `"k%d":"-"`) + `}}}`,
		"owners": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","ownerReferences":[` +
			many(n, `{"uid":"%d","controller":true}`) + `]}}`,
		"finalizers": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","finalizers":[` + many(n, `"a/%d"`) + `]}}`,
		"selectors": `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"selector":{"matchExpressions":[` +
			many(n, `{"key":"k%d","operator":"Exists"}`) + `]},"template":{"metadata":{"labels":{"a":"b"}}}}}`,
		"labels to select": `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{` +
			many(n, `"k%d":"a"`) + `}},"template":{"metadata":{"labels":{` + many(n, `"k%d":"a"`) + `}}}}}`,
		"service ports": `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"ports":[` + many(n, `{"port":%d}`) + `]}}`,
		"node ports": `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"type":"NodePort","ports":[` +
			many(n, `{"port":%d,"name":"p"}`) + `]}}`,
		"addresses": `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":{"externalIPs":[` + many(n, `"10.0.0.%d"`) + `]}}`,
		"rules": `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"a"},"rules":[` +
			many(n, `{"verbs":["get"]}`) + `]}`,
		"ingress": `{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"a"},"spec":{"rules":[` +
			many(n, `{"host":"h%d.a"}`) + `]}}`,
		"policies": `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"a"},"spec":{` +
			`"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["pods"]}]},"validations":[` +
			many(n, `{"expression":"object.x == %d"}`) + `]}}`,
		"expression": `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"a"},"spec":{` +
			`"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["pods"]}]},"validations":[` +
			`{"expression":"` + strings.Repeat("(", 2000) + "true" + strings.Repeat(")", 2000) + `"}]}}`,
		"device selectors": `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"a"},"spec":{"selectors":[` +
			many(min(n, 32), `{"cel":{"expression":"`+strings.Repeat("[1,2,3].all(x, ", 9)+"true"+strings.Repeat(")", 9)+` && %d==1"}}`) + `]}}`,
		"bundle": `{"apiVersion":"certificates.k8s.io/v1","kind":"ClusterTrustBundle","metadata":{"name":"a"},"spec":{"trustBundle":"` +
			strings.Repeat(`-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n`, n/4) + `"}}`,
	}
}

func TestHostile(t *testing.T) {
	sizes := []int{1000}
	if level.Long() {
		sizes = append(sizes, 100_000)
	}
	for _, parts := range sizes {
		for name, text := range hostile(parts, 10_000) {
			res, err := builtin.Validate(t.Context(), limited(t, text))
			var limit *builtin.LimitError
			if err != nil && !errors.As(err, &limit) {
				t.Errorf("%d %s: %v %v", parts, name, res, err)
			}
		}
	}
}

// hostileRequest returns a create of an object in Raw, which the decoder of engine may reject.
func hostileRequest(text string) builtin.Request {
	object := map[string]any{"apiVersion": between(text, `"apiVersion":"`), "kind": between(text, `"kind":"`)}
	return builtin.Request{Object: object, Raw: []byte(text), FieldValidation: "Strict"}
}

// limited returns a create of an object that is also decoded if possible, so that checkLimits sees
// its lists.
func limited(t *testing.T, text string) builtin.Request {
	t.Helper()
	req := hostileRequest(text)
	if object, err := engine.Decode([]byte(text)); err == nil {
		req.Object = object
	}
	return req
}

func between(text, before string) string {
	_, rest, _ := strings.Cut(text, before)
	out, _, _ := strings.Cut(rest, `"`)
	return out
}
