package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/celadon-cel/celadon/engine/admission"
)

func (s *serving) exchange(send string, answers int) (codes []int, bodies []string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, send) }() // the server may not read all of it
	from := bufio.NewReader(conn)
	for len(codes) < answers {
		res, err := http.ReadResponse(from, nil)
		if err != nil {
			return codes, bodies
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		codes, bodies = append(codes, res.StatusCode), append(bodies, string(body))
	}
	return codes, bodies
}

func posting(fields, body string) string {
	return "POST /validate?timeout=5s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + fields + "\r\n" + body
}

func ofLength(body string) string {
	return posting(fmt.Sprintf("Content-Length: %d\r\n", len(body)), body)
}

func TestServeHostileHTTP(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--crd", exampleD, "--plain-http")
	good := cronTab(goodSpec)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n", len(good), good)
	header := func(size int) string {
		const line, name = "GET /healthz HTTP/1.1\r\nHost: x\r\n", "X: "
		return line + name + strings.Repeat("x", size-len(line+name+"\r\n\r\n")) + "\r\n\r\n"
	}
	for name, c := range map[string]struct {
		send string
		want []int
		text string
	}{
		"header as long as it may be": {header(maxHeader), []int{200}, "ok"},
		"header a byte longer":        {header(maxHeader + 1), []int{431}, ""},
		"line a byte longer":          {"GET /" + strings.Repeat("x", maxHeader+1), []int{431}, ""},
		"many fields":                 {posting(strings.Repeat("A: b\r\n", 60), ""), []int{400}, "not an admission request"},
		"too many fields":             {posting(manyFields(maxFields), ""), []int{431}, "more than 64 header fields"},
		"pipelined":                   {strings.Repeat(ofLength(good), 3), []int{200, 200, 200}, `"allowed":true`},
		"pipelined after a rejection": {ofLength("{") + ofLength(good), []int{400, 200}, ""},
		"expects to go on":            {posting(fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n", len(good)), good), []int{100, 200}, ""},
		"expects, and is refused":     {strings.Replace(posting("Expect: 100-continue\r\nContent-Length: 5\r\n", ""), "json", "yaml", 1), []int{415}, ""},
		"expects something else":      {posting("Expect: a miracle\r\nContent-Length: 5\r\n", ""), []int{417}, ""},
		"chunked":                     {posting("Transfer-Encoding: chunked\r\n", chunked+"\r\n"), []int{200}, `"allowed":true`},
		"trailer":                     {posting("Transfer-Encoding: chunked\r\nTrailer: A\r\n", chunked+"A: b\r\n\r\n"), []int{200}, ""},
		"long trailer":                {posting("Transfer-Encoding: chunked\r\nTrailer: A\r\n", chunked+"A: "+strings.Repeat("x", 10<<10)+"\r\n\r\n"), []int{400}, "trailer"},
		"chunks of nothing but noise": {posting("Transfer-Encoding: chunked\r\n", strings.Repeat("1;x="+strings.Repeat("y", 3000)+"\r\n \r\n", 30)), []int{400}, ""},
		"chunked without end":         {posting("Transfer-Encoding: chunked\r\n", strings.Repeat("10000\r\n"+strings.Repeat(" ", 1<<16)+"\r\n", 60)), []int{413}, "more than 3276800 bytes"},
		"declares too many bytes":     {posting("Content-Length: 999999999999\r\n", ""), []int{413}, "more than 3276800 bytes"},
		"declares more than it sends": {posting("Content-Length: 3000000\r\n", good), []int{408}, "did not arrive in time"},
		"compressed":                  {strings.Replace(ofLength(good), "Host", "Content-Encoding: gzip\r\nHost", 1), []int{415}, "without Content-Encoding"},
		"both lengths":                {posting("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", chunked+"\r\n"), []int{200}, ""},
		"HTTP/2":                      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{400}, ""},
		"body for probes":             {"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", []int{413}, "a request body is not allowed"},
		"body for metrics":            {"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", []int{413}, "a request body is not allowed"},
		"too many values":             {ofLength(dense(maxValues)), []int{413}, "more than 262144 JSON values"},
		"the same key twice":          {ofLength(strings.Replace(good, `"image":"a"`, `"image":7,"image":"a"`, 1)), []int{200}, `"allowed":true`},
		"the object twice":            {ofLength(strings.Replace(good, `"object":`, `"object":{"apiVersion":"v1","kind":"Pod"},"object":`, 1)), []int{200}, `"allowed":true`},
		"no time":                     {strings.Replace(ofLength(good), "5s", "1ns", 1), []int{504}, "not decided in time"},
		"no time, and a long body":    {strings.Replace(ofLength(good+strings.Repeat(" ", 1<<20)), "5s", "1ns", 1), []int{408}, "did not arrive in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			codes, bodies := s.exchange(c.send, len(c.want))
			if fmt.Sprint(codes) != fmt.Sprint(c.want) || !strings.Contains(bodies[len(bodies)-1], c.text) {
				t.Errorf("%v %.300s, want %v %s", codes, bodies, c.want, c.text)
			}
		})
	}
}

func manyFields(n int) string {
	var fields strings.Builder
	for i := range n {
		fmt.Fprintf(&fields, "A%d: b\r\n", i)
	}
	return fields.String()
}

func TestServeDeepBodies(t *testing.T) {
	t.Parallel()
	if got, want := jsonValues([]byte(strings.Repeat("[", 9000)+strings.Repeat("]", 9000))), 9001; got != want {
		t.Errorf("%d values, want %d", got, want)
	}
	for text, want := range map[string]int{
		``: 1, `1`: 1, `[]`: 2, `[1,2]`: 3, `{"a":1,"b":[2,3]}`: 5, `"[,{"`: 1, `["\"[",1]`: 3, `["\\",[]]`: 4, `["\\\"[[[",1]`: 3, `["[[[`: 2,
	} {
		if got := jsonValues([]byte(text)); got != want {
			t.Errorf("%s: %d values, want %d", text, got, want)
		}
	}
}

func TestServeSlowSenders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(1)
		network := make(pipes)
		ctx, terminate := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- s.run(ctx, network, nil, 0) }()
		good, start := cronTab(goodSpec), time.Now()
		codes := make(chan int)
		for range 3 {
			conn, _ := network.dial(ctx, "", "")
			go func() {
				_, _ = io.WriteString(conn, strings.Replace(ofLength(good), "5s", "30s", 1)[:200])
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Error(err)
				}
				codes <- res.StatusCode
				conn.Close()
			}()
		}
		synctest.Wait()
		if w := recorded(s, "/validate?timeout=1s", good); w.Code != 200 {
			t.Errorf("an honest one meanwhile: %d %s", w.Code, w.Body)
		}
		for range 3 {
			if code := <-codes; code != 408 || time.Since(start) != transferTimeout {
				t.Errorf("%d after %s", code, time.Since(start))
			}
		}
		terminate()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

func TestServeSlowReaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(1)
		s.validate = func(context.Context, *admissionv1.AdmissionRequest) (*admission.Decision, error) {
			return &admission.Decision{Response: &admissionv1.AdmissionResponse{Patch: make([]byte, 1<<20)}}, nil
		}
		network := make(pipes)
		ctx, terminate := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- s.run(ctx, network, nil, 0) }()
		conn, _ := network.dial(ctx, "", "")
		_, _ = io.WriteString(conn, ofLength(cronTab(goodSpec)))
		synctest.Wait()
		if w := recorded(s, "/mutate?timeout=1s", cronTab(goodSpec)); w.Code != 200 {
			t.Errorf("another meanwhile: %d %s", w.Code, w.Body)
		}
		start := time.Now()
		for {
			if _, err := conn.Write([]byte("x")); err != nil { // the server has closed the connection
				break
			}
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(start); took > transferTimeout+rejectTimeout {
			t.Errorf("hung up after %s", took)
		}
		terminate()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

func TestServeSlowHandshake(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(1)
		writeCertificate(t, dir, "server")
		cert := &certificate{certFile: filepath.Join(dir, "tls.crt"), keyFile: filepath.Join(dir, "tls.key"), server: s}
		if _, err := cert.load(); err != nil {
			t.Fatal(err)
		}
		network := make(pipes)
		ctx, terminate := context.WithCancel(t.Context())
		stopped := make(chan error, 1)
		go func() { stopped <- s.run(ctx, network, cert, 0) }()
		for _, sent := range []string{"", "\x16\x03\x01\x01\x00\x01"} { // the beginning of a ClientHello
			conn, _ := network.dial(ctx, "", "")
			_, _ = io.WriteString(conn, sent)
			start := time.Now()
			_, _ = io.Copy(io.Discard, conn)
			if took := time.Since(start); took != headerTimeout {
				t.Errorf("%q: closed after %s", sent, took)
			}
		}
		terminate()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
}

func TestServeLogVolume(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`\u001b]0;x\u0007\n`, 10_000)
	s := startServe(t, "--crd", exampleD)
	before := strings.Count(s.log.String(), "\n")
	body := cronTab(badSpec)
	for _, name := range []string{`"uid":"42"`, `"name":"n"`, `"namespace":"ns"`, `"username":"jane"`, `"image":"a"`} {
		key, _, _ := strings.Cut(name, ":")
		body = strings.Replace(body, name, key+`:"`+long+`"`, 1)
	}
	for _, c := range []struct{ path, body string }{
		{"/validate", body}, {"/mutate", body}, {"/validate", long}, {"/validate", strings.Replace(body, "CREATE", long, 1)}, {"/validate", strings.Replace(body, `"v1","kind":"CronTab"}`, `"v1","kind":"`+long+`"}`, 1)},
	} {
		code, text := s.post(c.path, c.body)
		if strings.ContainsAny(text, "\x1b\x07") || code != 200 && len(text) > 1000 {
			t.Errorf("%d: an answer of %d bytes: %.300q", code, len(text), text)
		}
	}
	lines := strings.SplitAfter(s.log.String(), "\n")[before:]
	if len(lines) != 2 { // the rejection, and the rest after the last line
		t.Errorf("%d lines", len(lines)-1)
	}
	for _, line := range lines {
		if len(line) > 32<<10 || strings.ContainsAny(line, "\x1b\x07") {
			t.Errorf("a line of %d bytes: %.200q", len(line), line)
		}
	}
}

func TestServePanicVolume(t *testing.T) {
	t.Parallel()
	s, log := testServer(1)
	s.validate = func(context.Context, *admissionv1.AdmissionRequest) (*admission.Decision, error) {
		panic(strings.Repeat("oops", 1<<20))
	}
	w := recorded(s, "/validate", cronTab(goodSpec))
	if text := log.String(); w.Code != 500 || len(text) > 3*maxLog || !strings.Contains(text, "limits_test.go") {
		t.Errorf("%d, %d bytes: %.300s", w.Code, len(text), text)
	}
}

func TestServeScrapes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(1)
		handler := s.handler()
		release := make(chan bool)
		for range maxScrapes {
			go handler.ServeHTTP(&stuck{httptest.NewRecorder(), release}, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		}
		synctest.Wait()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if w.Code != http.StatusServiceUnavailable {
			t.Errorf("one more: %d", w.Code)
		}
		close(release)
		synctest.Wait()
	})
}

type stuck struct {
	*httptest.ResponseRecorder
	release chan bool
}

func (s *stuck) Write(data []byte) (int, error) {
	<-s.release
	return s.ResponseRecorder.Write(data)
}
