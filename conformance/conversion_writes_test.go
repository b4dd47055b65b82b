package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// convertExamples are the examples of the Kubernetes documentation and of "Programming Kubernetes",
// with the converters that they describe.
var convertExamples = []struct {
	file     string
	versions []string
	convert  func(spec map[string]any, from, to string) error
	spec     func(rng *rand.Rand, version string) map[string]any
}{
	{"crontab", []string{"v1", "v1beta1"}, convertCronTab, cronTabSpec},
	{"pizza", []string{"v1alpha1", "v1beta1"}, convertPizza, pizzaSpec},
}

func convertCronTab(spec map[string]any, from, to string) error {
	if to == "v1" {
		text, ok := spec["hostPort"].(string)
		if !ok {
			return nil
		}
		host, port, found := strings.Cut(text, ":")
		if !found {
			return fmt.Errorf("invalid hostPort value `%s`", text)
		}
		delete(spec, "hostPort")
		spec["host"], spec["port"] = host, port
		return nil
	}
	host, hasHost := spec["host"]
	port, hasPort := spec["port"]
	if hasHost || hasPort {
		delete(spec, "host")
		delete(spec, "port")
		spec["hostPort"] = fmt.Sprint(host, ":", port)
	}
	return nil
}

func cronTabSpec(rng *rand.Rand, version string) map[string]any {
	spec := map[string]any{"cronSpec": fmt.Sprint("* * * * */", rng.IntN(7)), "unknown": true}
	if version == "v1" {
		spec["host"], spec["port"] = "h", fmt.Sprint(rng.IntN(100))
	} else if spec["hostPort"] = fmt.Sprint("h:", rng.IntN(100)); rng.IntN(8) == 0 {
		spec["hostPort"] = "no port"
	}
	if rng.IntN(2) == 0 {
		spec["replicas"] = rng.IntN(12)
	}
	return spec
}

func convertPizza(spec map[string]any, from, to string) error {
	toppings, _ := spec["toppings"].([]any)
	if spec["toppings"] == nil || from == to {
		return nil
	}
	out := []any{}
	if to == "v1beta1" {
		for _, name := range toppings {
			i := slices.IndexFunc(out, func(v any) bool { return v.(map[string]any)["name"] == name })
			if i < 0 {
				out = append(out, map[string]any{"name": name, "quantity": 1})
				continue
			}
			topping := out[i].(map[string]any)
			topping["quantity"] = topping["quantity"].(int) + 1
		}
	} else {
		for _, v := range toppings {
			topping := v.(map[string]any)
			n, ok := topping["quantity"].(float64)
			if !ok {
				return errors.New("a topping without quantity")
			}
			for range int(n) {
				out = append(out, topping["name"])
			}
		}
	}
	spec["toppings"] = out
	return nil
}

func pizzaSpec(rng *rand.Rand, version string) map[string]any {
	names := []string{"mozzarella", "tomato", "salami"}
	toppings := []any{}
	for _, name := range names[:rng.IntN(4)] {
		if version == "v1beta1" {
			topping := map[string]any{"name": name}
			if n := rng.IntN(11); n > 0 { // otherwise it has the default value
				topping["quantity"] = n
			}
			toppings = append(toppings, topping)
			continue
		}
		for range 1 + rng.IntN(3) {
			toppings = append(toppings, name)
		}
	}
	if rng.IntN(8) == 0 {
		return map[string]any{}
	}
	return map[string]any{"toppings": toppings}
}

func TestConvertedWrites(t *testing.T) {
	const writes = 250 // per example
	s := startServer(t)
	for _, example := range convertExamples {
		t.Run(example.file, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("testdata/convert/" + example.file + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			c := serveConverted(t, s, convertedCRD(t, string(text)), answering(t, func(w http.ResponseWriter, _ *http.Request, r *reviewed) {
				obj := r.Request.Objects[0]
				spec, _ := obj["spec"].(map[string]any)
				if err := example.convert(spec, versionIn(obj["apiVersion"]), versionIn(r.Request.DesiredAPIVersion)); err != nil {
					answer := r.fine()
					answer["response"].(map[string]any)["result"] = map[string]any{"status": "Failure", "message": err.Error()}
					writeJSON(w, answer)
					return
				}
				obj["apiVersion"] = r.Request.DesiredAPIVersion
				if meta(obj)["annotations"] == nil {
					meta(obj)["annotations"] = map[string]any{}
				}
				meta(obj)["annotations"].(map[string]any)["converted.test/to"] = versionIn(r.Request.DesiredAPIVersion)
				writeJSON(w, r.fine(obj))
			}))
			rng := rand.New(rand.NewPCG(18, 1))
			accepted := 0
			for i := range writes {
				version := example.versions[rng.IntN(2)]
				name := fmt.Sprint("w", rng.IntN(writes/3))
				obj := map[string]any{
					"apiVersion": c.crd.Spec.Group + "/" + version, "kind": c.crd.Spec.Names.Kind,
					"metadata": map[string]any{"name": name, "namespace": "default", "labels": map[string]any{"i": fmt.Sprint(i)}},
					"spec":     example.spec(rng, version),
				}
				if c.write(t, obj, example.versions[rng.IntN(2)]) {
					accepted++
				}
			}
			if accepted < writes/2 || accepted == writes {
				t.Errorf("%d of %d writes were accepted: want most", accepted, writes)
			}
		})
	}
}

func versionIn(apiVersion any) string {
	_, version, _ := strings.Cut(apiVersion.(string), "/")
	return version
}

// The engine gets the old object as read in oldVersion.
func (c *converted) write(t *testing.T, obj map[string]any, oldVersion string) (accepted bool) {
	t.Helper()
	req := call{method: http.MethodPost, version: versionIn(obj["apiVersion"]), namespace: "default"}
	name := nameOf(obj)
	got, err := c.do(t.Context(), call{method: http.MethodGet, version: oldVersion, namespace: "default", name: name})
	if err != nil {
		t.Fatal(err)
	}
	if got.code == http.StatusInternalServerError { // the old object cannot be converted to that version
		return c.write(t, obj, c.storageVersion())
	}
	var old map[string]any
	if got.code == http.StatusOK {
		if old, err = engine.Decode(got.body); err != nil {
			t.Fatal(err)
		}
		req.method, req.name = http.MethodPut, name
		meta(obj)["resourceVersion"] = meta(old)["resourceVersion"]
	}
	req.body = marshal(t, obj)
	if got, err = c.do(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	decoded, err := engine.Decode(req.body)
	if err != nil {
		t.Fatal(err)
	}
	c.same(t, got, <-c.validate(t, engine.Request{Object: decoded, OldObject: old}), name)
	if got.code >= 300 {
		return false
	}
	c.sameRead(t, got, decoded, old)
	return true
}

func (c *converted) sameRead(t *testing.T, got *response, obj, old map[string]any) {
	t.Helper()
	res := (<-c.validate(t, engine.Request{Object: obj, OldObject: old})).res
	answered := map[string]any{}
	if err := json.Unmarshal(got.body, &answered); err != nil {
		t.Fatal(err)
	}
	if want, ours := string(unmanaged(t, answered)), string(unmanaged(t, res.Object)); want != ours {
		t.Errorf("the server answers with\n%s\nours is\n%s", want, ours)
	}
	for _, v := range c.crd.Spec.Versions {
		got, err := c.do(t.Context(), call{method: http.MethodGet, version: v.Name, namespace: "default", name: nameOf(obj)})
		if err != nil {
			t.Fatal(err)
		}
		read := map[string]any{}
		if err := json.Unmarshal(got.body, &read); err != nil {
			t.Fatal(err)
		}
		ours, err := c.engine.Convert(t.Context(), res.Object, v.Name)
		if err != nil {
			if got.code != http.StatusInternalServerError || !strings.HasSuffix(read["message"].(string), err.Error()) {
				t.Errorf("a read in %s gives\n%s\nours is\n%v", v.Name, got.body, err)
			}
			continue
		}
		if want, ours := string(unmanaged(t, read)), string(unmanaged(t, ours)); want != ours {
			t.Errorf("a read in %s gives\n%s\nours is\n%s", v.Name, want, ours)
		}
	}
}
