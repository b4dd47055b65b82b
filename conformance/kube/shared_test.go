package kube

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

// A corpus holds published policies, which are read from the folders in CELADON_POLICIES and not part
// of the repository.
type corpus struct {
	policies []exchange.Object
	bindings map[string][]exchange.Object // by policy
	// kinds maps resources of CRDs that the corpus does not have to generated kinds.
	kinds map[string]exchange.Object
}

// readCorpus renames policies whose name occurs twice.
func readCorpus(t *testing.T, dir string) *corpus {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := &corpus{bindings: map[string][]exchange.Object{}, kinds: map[string]exchange.Object{}}
	seen := map[string]int{}
	for _, file := range files {
		for _, doc := range documents(t, file) {
			name := str(doc, "metadata", "name")
			switch doc["kind"] {
			case "ValidatingAdmissionPolicy":
				if seen[name]++; seen[name] > 1 {
					name = fmt.Sprintf("%s-%d", name, seen[name])
				}
				doc["metadata"] = exchange.Object{"name": name}
				doc["apiVersion"] = "admissionregistration.k8s.io/v1"
				c.policies = append(c.policies, doc)
			case "ValidatingAdmissionPolicyBinding":
				of := str(doc, "spec", "policyName")
				doc["metadata"] = exchange.Object{"name": fmt.Sprintf("binding-%d-%s", len(c.bindings[of]), of)}
				doc["apiVersion"] = "admissionregistration.k8s.io/v1"
				c.bindings[of] = append(c.bindings[of], doc)
			}
		}
	}
	return c
}

type target struct{ group, version, resource, operation string }

func targets(doc exchange.Object) (list []target) {
	rules, _ := dig(doc, "spec", "matchConstraints", "resourceRules").([]any)
	for _, rule := range rules {
		for _, group := range texts(rule, "apiGroups", "") {
			for _, version := range texts(rule, "apiVersions", "v1") {
				for _, resource := range texts(rule, "resources", "pods") {
					for _, operation := range texts(rule, "operations", "CREATE") {
						if group == "apiextensions.k8s.io" {
							resource = "customresourcedefinitions"
						}
						list = append(list, target{group, version, resource, operation})
					}
				}
			}
		}
	}
	return list
}

func texts(v any, field, wildcard string) (list []string) {
	items, _ := dig(v, field).([]any)
	for _, item := range items {
		text, _ := item.(string)
		if text == "*" {
			text = wildcard
		}
		list = append(list, text)
	}
	return list
}

// definitions returns CRDs of the custom kinds that the policies match or use as params. They accept
// everything.
func (c *corpus) definitions() (crds []exchange.Object) {
	define := func(group, version, resource, kind string) {
		if !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") && !strings.HasPrefix(group, "gateway.") || strings.Contains(resource, "/") || c.kinds[group+"/"+resource] != nil {
			return
		}
		c.kinds[group+"/"+resource] = exchange.Object{"apiVersion": group + "/" + version, "kind": kind}
		crds = append(crds, object(fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
			"metadata":{"name":"%[3]s.%[1]s","annotations":{"api-approved.kubernetes.io":"unapproved, test"}},
			"spec":{"group":%[1]q,"scope":"Namespaced","names":{"kind":%[4]q,"plural":%[3]q},"versions":[{"name":%[2]q,"served":true,"storage":true,
				"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`, group, version, resource, kind)))
	}
	for _, doc := range c.policies {
		for _, t := range targets(doc) {
			define(t.group, t.version, t.resource, strings.ToUpper(t.resource[:1])+t.resource[1:])
		}
		if kind := str(doc, "spec", "paramKind", "kind"); kind != "" {
			group, version, _ := strings.Cut(str(doc, "spec", "paramKind", "apiVersion"), "/")
			define(group, version, strings.ToLower(kind)+"s", kind)
		}
	}
	return crds
}

const settings = `{"apiVersion":%q,"kind":%q,"metadata":{"name":"settings","namespace":"ns","labels":{"a":"b"}},"data":{"maxReplicas":"3"},"settings":{
	"insecureCapabilities":["NET_ADMIN","SYS_ADMIN"],"recommendedLabels":["app","tier"],"k8sRecommendedLabels":["app.kubernetes.io/name"],"cpuLimitMax":"1","memoryLimitMax":"1Gi","imageRepositoryAllowList":["docker.io"],
	"publicRegistries":["docker.io"],"untrustedRegistries":[],"sensitiveKeyNames":["password"],"sensitiveValues":["secret"],"listOfDangerousArtifacts":["bin/bash"],"sensitiveInterfaces":[],"max_critical_vulnerabilities":["5"]}}`

func (c *corpus) scene(s *stage, index int, policies, pool []exchange.Object) *exchange.Scene {
	m := &mutator{rand.New(rand.NewPCG(uint64(index), 3))}
	scene := &exchange.Scene{Name: fmt.Sprintf("published-%d", index)}
	params := map[string]bool{}
	for _, doc := range policies {
		name := str(doc, "metadata", "name")
		binding := object(fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"own-%[1]s"},
			"spec":{"policyName":%[1]q,"validationActions":["Deny","Audit"]}}`, name))
		if kind := str(doc, "spec", "paramKind", "kind"); kind != "" {
			apiVersion := str(doc, "spec", "paramKind", "apiVersion")
			binding["spec"].(exchange.Object)["paramRef"] = object(`{"name":"settings","namespace":"ns","parameterNotFoundAction":"Deny"}`)
			if text := fmt.Sprintf(settings, apiVersion, kind); !params[text] {
				params[text] = true
				o := object(text)
				if apiVersion == "v1" {
					delete(o, "settings")
				}
				scene.Documents = append(scene.Documents, o)
			}
		}
		scene.Documents = append(scene.Documents, doc, binding)
		scene.Documents = append(scene.Documents, c.bindings[name]...)
		for i, r := range c.requests(m, doc, pool) {
			r.DryRun = r.Operation != policy.OperationConnect // which has no dry run
			if r.Operation == policy.OperationCreate && str(r.Object, "kind") != "CustomResourceDefinition" {
				setName(&r, fmt.Sprintf("%s-%d", r.Name, i))
			}
			s.complete(&r)
			r.User.Name = m.pick([]string{"ann", "bob", "system:serviceaccount:ns:sa", "system:serviceaccount:kube-system:job-controller"})
			scene.Exchanges = append(scene.Exchanges, exchange.Exchange{Request: r})
		}
	}
	return scene
}

func setName(r *exchange.Request, name string) {
	r.Name = name
	r.Object = merged(r.Object, exchange.Object{"metadata": exchange.Object{"name": name}}).(exchange.Object)
}

const requestsPerPolicy = 8

func (c *corpus) requests(m *mutator, doc exchange.Object, pool []exchange.Object) (list []exchange.Request) {
	all := targets(doc)
	m.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range all {
		t := all[i%len(all)]
		if len(list) >= requestsPerPolicy {
			break
		}
		list = append(list, c.forTarget(m, t, doc, pool)...)
	}
	return list[:min(len(list), requestsPerPolicy)]
}

func (c *corpus) forTarget(m *mutator, t target, doc exchange.Object, pool []exchange.Object) (list []exchange.Request) {
	resource, subresource, _ := strings.Cut(t.resource, "/")
	if t.operation == "CONNECT" || slices.Contains([]string{"exec", "attach", "portforward"}, subresource) {
		kind := map[string]string{"exec": "PodExecOptions", "attach": "PodAttachOptions", "portforward": "PodPortForwardOptions"}[subresource]
		if kind == "" {
			return nil
		}
		o := exchange.Object{"apiVersion": "v1", "kind": kind}
		if kind != "PodPortForwardOptions" {
			o["stdout"], o["container"] = true, "c"
		}
		return []exchange.Request{{Operation: policy.OperationConnect, APIVersion: "v1", Resource: "pods", Subresource: subresource, Namespace: "ns", Name: "pod", Kind: kind, Object: o}}
	}
	var bases []exchange.Object
	if k := c.kinds[t.group+"/"+resource]; k != nil {
		for i := range 3 {
			bases = append(bases, m.custom(str(k, "apiVersion"), str(k, "kind"), fmt.Sprintf("%s-%d", resource, i), encoded(doc)))
		}
	} else {
		for _, o := range pool {
			group, _, grouped := strings.Cut(str(o, "apiVersion"), "/")
			if !grouped {
				group = ""
			}
			if group == t.group && plural(str(o, "kind")) == resource {
				bases = append(bases, o)
			}
		}
	}
	for _, base := range bases {
		changed := m.object(base)
		if c.kinds[t.group+"/"+resource] != nil {
			changed = m.custom(str(base, "apiVersion"), str(base, "kind"), str(base, "metadata", "name"), encoded(doc))
		}
		switch t.operation {
		case "CREATE":
			list = append(list, exchange.Request{Operation: policy.OperationCreate, Object: changed, Name: str(base, "metadata", "name")})
			if m.IntN(3) == 0 {
				list = append(list, exchange.Request{Operation: policy.OperationCreate, Object: base, Name: str(base, "metadata", "name")})
			}
		case "UPDATE":
			r := exchange.Request{Operation: policy.OperationUpdate, Old: base, Object: changed, Subresource: subresource, Patched: true}
			if resource == "pods" || resource == "jobs" {
				r.Object = exchange.Object{"metadata": object(m.pick(metadataChanges))}
			}
			if subresource == "ephemeralcontainers" {
				r.Object = object(`{"spec":{"ephemeralContainers":[{"name":"debug","image":"busybox","terminationMessagePolicy":"File","imagePullPolicy":"Always","securityContext":{"privileged":true}}]}}`)
			}
			list = append(list, r)
		case "DELETE":
			list = append(list, exchange.Request{Operation: policy.OperationDelete, Old: base})
		}
	}
	return list
}

func plural(kind string) string {
	lower := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(lower, "y"):
		return strings.TrimSuffix(lower, "y") + "ies"
	case strings.HasSuffix(lower, "ss"):
		return lower + "es"
	case strings.HasSuffix(lower, "s"):
		return lower
	}
	return lower + "s"
}

// policiesPerScene is small enough for the audit annotation, which holds 50 failures.
const policiesPerScene = 6

func TestPublishedPolicies(t *testing.T) {
	dir := os.Getenv("CELADON_POLICIES")
	if dir == "" {
		t.Skip("CELADON_POLICIES is not set")
	}
	c := readCorpus(t, dir)
	s := policyPlane(t, c.definitions()...)
	pool := documents(t, "testdata/policies/objects.yaml")
	count := map[string]int{}
	var accepted []exchange.Object
	for _, doc := range c.policies {
		count["policies"]++
		if !s.acceptsAlike(doc) {
			count["differences"]++
		}
		doc = repaired(t, doc)
		collection, _ := s.paths(doc)
		if a := s.do("POST", collection+"?dryRun=All&fieldValidation=Strict", encoded(doc)); a.Code != 201 {
			count["rejected"]++
			continue
		}
		accepted = append(accepted, doc)
	}
	index := 0
	for chunk := range slices.Chunk(accepted, policiesPerScene) {
		index++
		t.Run(fmt.Sprint(index), func(t *testing.T) {
			scene := c.scene(s.in(t), index, chunk, pool)
			if err := scene.FixNumbers(); err != nil {
				t.Fatal(err)
			}
			sent := len(scene.Exchanges)
			for what, why := range s.run(scene) {
				t.Logf("the server rejects %s: %s", what, why)
				count["rejected documents"]++
			}
			count["not compared"] += sent - len(scene.Exchanges)
			count["requests"] += len(scene.Exchanges)
			for i := range scene.Exchanges {
				e := &scene.Exchanges[i]
				count[string(e.Request.Operation)]++
				count[cmp.Or(map[bool]string{true: "accepted"}[e.Answer.Code == exchange.Accepted], "denied")]++
			}
			differences, undecided := s.compare(t, scene)
			count["differences"] += differences
			count["undecided"] += undecided
		})
	}
	for _, what := range slices.Sorted(maps.Keys(count)) {
		t.Logf("published policies: %s: %d", what, count[what])
	}
}
