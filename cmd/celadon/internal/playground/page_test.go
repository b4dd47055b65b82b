package playground

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

const token = "secret"

func testPage() *page {
	return newPage(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, token, &start{CRD: "a: </script>"})
}

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	const own, ask = "127.0.0.1:8080", `{"do":"about"}`
	for name, test := range map[string]struct {
		method, path, host, origin, body string
		want                             int
	}{
		"the page":                 {"GET", "/secret/", own, "", "", 200},
		"by its other name":        {"GET", "/secret/", "localhost:8080", "", "", 200},
		"a file":                   {"GET", "/secret/app.js", own, "", "", 200},
		"its head":                 {"HEAD", "/secret/app.js", own, "", "", 200},
		"the begin":                {"GET", "/secret/start.json", own, "", "", 200},
		"a question":               {"POST", "/secret/answer", own, "http://127.0.0.1:8080", ask, 200},
		"a question, other name":   {"POST", "/secret/answer", "localhost:8080", "http://localhost:8080", ask, 200},
		"no token":                 {"GET", "/", own, "", "", 404},
		"an empty token":           {"GET", "//", own, "", "", 404},
		"another token":            {"GET", "/secre/", own, "", "", 404},
		"a longer token":           {"GET", "/secret2/", own, "", "", 404},
		"token, no slash":          {"GET", "/secret", own, "", "", 404},
		"question, other token":    {"POST", "/s/answer", own, "http://127.0.0.1:8080", ask, 404},
		"rebound name":             {"GET", "/secret/", "evil.example:8080", "", "", 421},
		"rebound, asks":            {"POST", "/secret/answer", "evil.example:8080", "http://evil.example:8080", ask, 421},
		"no host":                  {"GET", "/secret/", "", "", "", 421},
		"another port":             {"GET", "/secret/", "127.0.0.1:8081", "", "", 421},
		"another address":          {"GET", "/secret/", "127.0.0.2:8080", "", "", 421},
		"another page asks":        {"POST", "/secret/answer", own, "https://evil.example", ask, 403},
		"a sandboxed page asks":    {"POST", "/secret/answer", own, "null", ask, 403},
		"another port's page asks": {"POST", "/secret/answer", own, "http://127.0.0.1:3000", ask, 403},
		"https page asks":          {"POST", "/secret/answer", own, "https://127.0.0.1:8080", ask, 403},
		"no origin":                {"POST", "/secret/answer", own, "", ask, 403},
		"another page reads":       {"GET", "/secret/start.json", own, "https://evil.example", "", 403},
		"another method":           {"PUT", "/secret/answer", own, "http://127.0.0.1:8080", ask, 405},
		"preflight":                {"OPTIONS", "/secret/answer", own, "http://127.0.0.1:8080", "", 405},
		"question by GET":          {"GET", "/secret/answer", own, "", "", 404},
		"post of a file":           {"POST", "/secret/app.js", own, "http://127.0.0.1:8080", "", 405},
		"above the files":          {"GET", "/secret/../secret/../../page.go", own, "", "", 404},
		"no such file":             {"GET", "/secret/x", own, "", "", 404},
		"a folder":                 {"GET", "/secret/.", own, "", "", 404},
		"too long a question":      {"POST", "/secret/answer", own, "http://127.0.0.1:8080", strings.Repeat(" ", service.MaxRequest+1), 413},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(test.method, "http://"+own+"/", strings.NewReader(test.body))
			r.URL.Path, r.Host = test.path, test.host
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			w := httptest.NewRecorder()
			testPage().ServeHTTP(w, r)
			if w.Code != test.want {
				t.Errorf("got %d, want %d: %.200s", w.Code, test.want, w.Body)
			}
			if w.Code != 200 && strings.Contains(w.Body.String(), token) {
				t.Errorf("the response contains the token: %s", w.Body)
			}
			for name := range headers {
				if w.Header().Get(name) == "" {
					t.Errorf("no %s", name)
				}
			}
			if w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Error("another page may read it")
			}
		})
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	get := func(name string) string {
		r := httptest.NewRequest("GET", "http://127.0.0.1:8080/secret/"+name, nil)
		w := httptest.NewRecorder()
		testPage().ServeHTTP(w, r)
		return w.Body.String()
	}
	var got start
	if err := json.Unmarshal([]byte(get("start.json")), &got); err != nil || got.CRD != "a: </script>" {
		t.Errorf("%v %v", got, err)
	}
	page := get("")
	if strings.Contains(page, "a: ") || !strings.Contains(page, `data-engine="native"`) || strings.Contains(page, `data-engine="wasm"`) {
		t.Error(page)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, bytes.Repeat([]byte("# a\n"), maxBody), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"want a loopback address":          {Listen: "0.0.0.0:0"},
		"want a loopback address, such as": {Listen: "[::]:0"},
		"192.0.2.1:80: want":               {Listen: "192.0.2.1:80"},
		"localhost:0: want":                {Listen: "localhost:0"},
		":8080: want":                      {Listen: ":8080"},
		"missing port":                     {Listen: "127.0.0.1"},
		"--crd nowhere.yaml: ":             {Listen: "127.0.0.1:0", CRD: "nowhere.yaml"},
		"--object /dev/null: ":             {Listen: "127.0.0.1:0", Object: "/dev/null"},
		"--old " + large + ": more":        {Listen: "127.0.0.1:0", Old: large},
		"--kube-version: ":                 {Listen: "127.0.0.1:0", KubeVersion: "2.0"},
		"cannot listen: ":                  {Listen: "127.0.0.1:99999"},
	} {
		err := Run(t.Context(), command.Streams{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}, &o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %s", o, err, want)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, command.Streams{Stdin: strings.NewReader("kind: A\n"), Stdout: in, Stderr: io.Discard}, &Options{Listen: "127.0.0.1:0", Object: "-"})
	}()
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{address: 200, address + "start.json": 200, address[:len(address)-2]: 404} {
		res, err := http.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != want || strings.HasSuffix(path, "json") && !bytes.Contains(body, []byte("kind: A")) {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestDist checks that the embedded page was built from the current sources. Run make -C site page to
// rebuild it. make -C site played, which needs npm, compares it byte for byte.
func TestDist(t *testing.T) {
	t.Parallel()
	data, err := fs.ReadFile(testPage().files, "sources.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		listed[name] = true
		text, err := os.ReadFile(filepath.Join("page", name))
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(text)) != sum {
			t.Errorf("%s is another since the page was built: run make -C site page (%v)", name, err)
		}
	}
	sources, _ := filepath.Glob("page/src/*")
	for _, name := range sources {
		if !listed["src/"+filepath.Base(name)] {
			t.Errorf("%s is not in the page: run make -C site page", name)
		}
	}
}
