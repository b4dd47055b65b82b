package kube

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// shards is an Indexed Job over what is on a claim: one index reads a part of it, and
// leaves its report on another claim.
const shards = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"%[1]s","namespace":"default"},"spec":{
	"completionMode":"Indexed","completions":%[2]d,"parallelism":%[2]d,"backoffLimitPerIndex":2,"maxFailedIndexes":%[2]d,
	"podFailurePolicy":{"rules":[
		{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]},
		{"action":"FailIndex","onExitCodes":{"operator":"In","values":[2,3]}}]},
	"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"celadon","image":"example.com/celadon:dev",
		"args":["check","--crd","/crds","--shard","$(JOB_COMPLETION_INDEX)/%[2]d","--findings-exit-code","0","-o","jsonl","--out","/reports/%[1]s/$(JOB_COMPLETION_INDEX).jsonl","/objects"],
		"env":[{"name":"JOB_COMPLETION_INDEX","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['batch.kubernetes.io/job-completion-index']"}}}],
		"volumeMounts":[{"name":"crds","mountPath":"/crds"},{"name":"objects","mountPath":"/objects"},{"name":"reports","mountPath":"/reports"}]}],
		"volumes":[{"name":"crds","configMap":{"name":"crds"}},{"name":"objects","persistentVolumeClaim":{"claimName":"objects"}},{"name":"reports","persistentVolumeClaim":{"claimName":"reports"}}]}}}}`

// ended waits until a Job has ended, and says how.
func (r *runner) ended(name string) (condition string, status map[string]any) {
	r.p.t.Helper()
	r.p.until("the Job "+name+" has ended", 2*time.Minute, func() error {
		status, _ = r.p.do(http.MethodGet, "/apis/batch/v1/namespaces/default/jobs/"+name, "").Body["status"].(map[string]any)
		conditions, _ := status["conditions"].([]any)
		for _, c := range conditions {
			if c := c.(map[string]any); c["status"] == "True" && (c["type"] == "Complete" || c["type"] == "Failed") {
				condition = c["type"].(string)
				return nil
			}
		}
		return fmt.Errorf("%v", status)
	})
	return condition, status
}

// TestJob: the shards of an Indexed Job, of which one was evicted and ran again, merge
// to the report of one run over all of it; what cannot be read fails its index at
// once.
func TestJob(t *testing.T) {
	p := start(t)
	evicted := 0
	r := p.jobs(func(pod *corev1.Pod) bool {
		if strings.HasPrefix(pod.Name, "whole-3-") {
			evicted++
		}
		return strings.HasPrefix(pod.Name, "whole-3-") && evicted <= 2
	})
	crd := readFile(t, examples+"/crontab/crd.yaml")
	p.apply(p.write("crds.json", fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"crds","namespace":"default"},"data":{"crontab.yaml":%q}}`, crd)))
	p.stock(r.claim("objects"), 200)
	for _, dir := range []string{"whole", "spoilt"} {
		if err := os.MkdirAll(filepath.Join(r.claim("reports"), dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	p.apply(p.write("job.json", fmt.Sprintf(shards, "whole", 7)))
	if condition, status := r.ended("whole"); condition != "Complete" || status["completedIndexes"] != "0-6" || r.runs["3"] != 3 {
		t.Fatalf("%s: %v, index 3 ran %d times\n%s", condition, status, r.runs["3"], strings.Join(r.logs, "\n"))
	}
	want, wantCode := p.celadon("", "check", "--crd", p.path("configmaps/crds"), "-o", "json", r.claim("objects"))
	got, code := p.celadon("", "merge", "-o", "json", filepath.Join(r.claim("reports"), "whole"))
	if diff := cmp.Diff(want, got); diff != "" || code != wantCode || code != 1 {
		t.Errorf("merge ends with %d, want %d (-one run +merged):\n%.2000s", code, wantCode, diff)
	}

	p.spoil(r.claim("objects"))
	r.runs = map[string]int{}
	p.apply(p.write("job.json", fmt.Sprintf(shards, "spoilt", 3)))
	if condition, status := r.ended("spoilt"); condition != "Failed" || status["failedIndexes"] == nil {
		t.Errorf("%s: %v\n%s", condition, status, strings.Join(r.logs, "\n"))
	}
	for index, n := range r.runs {
		if n != 1 {
			t.Errorf("index %s ran %d times: what cannot be read will not be read the second time", index, n)
		}
	}
}

// stock writes objects, of which some are refused, into a folder.
func (p *plane) stock(dir string, n int) {
	p.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	for i := range n {
		object := cron(fmt.Sprintf("cron-%d", i), fmt.Sprintf(`"image":"a:1","replicas":%d`, i%13))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.json", i)), []byte(object), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *plane) spoil(dir string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "spoilt.yaml"), []byte("a: [\n"), 0o644); err != nil {
		p.t.Fatal(err)
	}
}
