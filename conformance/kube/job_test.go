package kube

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func (r *runner) ended(name string) (condition string, status map[string]any) {
	r.p.t.Helper()
	r.p.until("the Job "+name+" has ended", 2*time.Minute, func() error {
		status, _ = r.p.do(http.MethodGet, "/apis/batch/v1/namespaces/celadon/jobs/"+name, "").Body["status"].(map[string]any)
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

func (p *plane) job(name string, shards int) string {
	p.t.Helper()
	out, code := p.celadon("", "manifests", "job", "--crd", p.path("next.yaml"), "--image", "example.com/celadon:dev", "--name", name, "--reports", name, "--shards", strconv.Itoa(shards))
	if code != 0 {
		p.t.Fatalf("manifests job ends with %d: %s", code, out)
	}
	return p.write(name+".yaml", out)
}

// TestJob kills pods while they write their reports: two are evicted, which is not counted as a failure, and one
// dies, which is retried.
func TestJob(t *testing.T) {
	p := start(t)
	fates := []fate{evicted, dies, evicted}
	r := p.jobs(func(pod *corev1.Pod) fate {
		if !strings.HasPrefix(pod.Name, "whole-3-") || len(fates) == 0 {
			return lives
		}
		next := fates[0]
		fates = fates[1:]
		return next
	})
	p.crowd(600)

	p.apply(p.job("whole", 7))
	condition, status := r.ended("whole")
	runs, killed, output := r.logsOf("3")
	if condition != "Complete" || status["completedIndexes"] != "0-6" || runs != 4 || killed != 3 {
		t.Fatalf("%s: %v, index 3 ran %d times, %d were killed\n%s", condition, status, runs, killed, output)
	}
	want, _ := p.celadon("", "check", "--cluster", "-A", "--crd", p.path("configmaps/whole"), "-q", "-o", "json")
	got, code := p.celadon("", "merge", "-o", "json", r.claim("whole"))
	if diff := cmp.Diff(want, got); diff != "" || code != 1 || !strings.Contains(got, `"checked": 600,`) {
		t.Errorf("merge ends with %d (-one run +merged):\n%.2000s", code, diff)
	}
}

func TestJobFails(t *testing.T) {
	p := start(t)
	r := p.jobs(nil)
	p.crowd(5)
	manifest := readFile(t, p.job("blind", 3))
	may := "verbs: [list]"
	if !strings.Contains(manifest, may) {
		t.Fatal("the Job has no rights to take away")
	}
	p.apply(p.write("blind.yaml", strings.ReplaceAll(manifest, may, "verbs: [watch]")))
	condition, status := r.ended("blind")
	_, _, output := r.logsOf("")
	if condition != "Failed" || status["failedIndexes"] != "0-2" || strings.Count(output, "forbidden") < 3 {
		t.Errorf("%s: %v\n%s", condition, status, output)
	}
	for _, index := range []string{"0", "1", "2"} {
		if runs, _, _ := r.logsOf(index); runs != 1 {
			t.Errorf("index %s ran %d times: a retry cannot read objects without permission", index, runs)
		}
	}
	if out, code := p.celadon("", "merge", r.claim("blind")); code != 2 {
		t.Errorf("merge ends with %d: %s", code, out)
	}
}

func TestMergeJob(t *testing.T) {
	p := start(t)
	r := p.jobs(nil)
	p.crowd(20)
	p.apply(p.job("celadon-check", 3))
	if condition, status := r.ended("celadon-check"); condition != "Complete" {
		_, _, output := r.logsOf("")
		t.Fatalf("%s: %v\n%s", condition, status, output)
	}
	p.apply(p.write("merge.yaml", strings.ReplaceAll(readFile(t, examples+"/fleet/merge.yaml"), "claimName: celadon-reports", "claimName: celadon-check")))
	condition, status := r.ended("celadon-merge")
	_, _, output := r.logsOf("")
	if condition != "Failed" || !strings.Contains(output, "(index ) ends with 1: ") || !strings.Contains(output, "20 objects checked: ") {
		t.Errorf("%s: %v\n%s", condition, status, output)
	}
}

// crowd stores n CronTabs, and creates the namespace of the Jobs. The next CRD rejects some of the CronTabs.
func (p *plane) crowd(n int) {
	p.t.Helper()
	p.define(examples+"/crontab/crd.yaml", "CronTab", cronTabs)
	p.write("next.yaml", next(p.t))
	p.apply(p.write("namespace.json", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"celadon"}}`))
	for i := range n {
		p.accepted("create", p.do(http.MethodPost, cronTabs, cron(fmt.Sprintf("cron-%03d", i), fmt.Sprintf(`"image":"a:1","replicas":%d`, i%11))))
	}
}
