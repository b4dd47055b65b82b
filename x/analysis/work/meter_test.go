package work

import "testing"

func TestMeter(t *testing.T) {
	t.Parallel()
	run := NewMeter(100)
	question := run.Within(60)
	if question.Spend(59); question.Empty() || question.Reason() != "" {
		t.Error("59 of 60 units: the budget is used up")
	}
	if question.Spend(1); !question.Empty() || run.Empty() || question.Reason() != "the work budget of one search is used up" {
		t.Errorf("60 of 60 units: %q", question.Reason())
	}
	next := run.Within(60)
	if next.Spend(40); !next.Empty() || next.Reason() != "the work budget of this run is used up" {
		t.Errorf("100 of 100 units: %q", next.Reason())
	}
	if run.Spent() != 100 || next.Spent() != 40 {
		t.Errorf("spent %d and %d units, want 100 and 40", run.Spent(), next.Spent())
	}
}

func TestUnanswered(t *testing.T) {
	t.Parallel()
	run := NewRun(1, 1)
	run.Spend(unansweredLimit)
	if run.Empty() {
		t.Error("the budget of answered questions is used up")
	}
	if run.Unanswered(unansweredLimit + unansweredPerQuestion + unansweredPerNode); !run.Empty() {
		t.Error("the budget of questions without an answer is not used up")
	}
}

func TestNoMeter(t *testing.T) {
	t.Parallel()
	var m *Meter
	if m.Spend(1 << 40); m.Empty() || m.Spent() != 0 || m.Reason() != "" {
		t.Error("a nil meter has a limit")
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ questions, nodes int }{{1, 1}, {maxQuestions, maxNodes}} {
		first, next, last := NewRun(tt.questions, tt.nodes).After(0), NewRun(tt.questions, tt.nodes).After(MaxRun-minRun-5), NewRun(tt.questions, tt.nodes).After(2*MaxRun)
		if first.left > MaxRun || first.left < runLimit || next.left != minRun+5 || last.left != minRun {
			t.Errorf("%+v: %d, %d, and %d units", tt, first.left, next.left, last.left)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	few, many, more := Split(1, 1)[0], Split(maxQuestions, maxNodes)[Lanes-1], Split(1<<30, 1<<30)[0]
	if whole := many.left * Lanes; whole > MaxRun || whole < 1_100_000_000 {
		t.Errorf("the budget of a run is %d units: want about two minutes, and enough for the largest real CRDs", whole)
	}
	if few.left >= many.left || many.left != more.left {
		t.Errorf("lanes have %d, %d and %d units", few.left, many.left, more.left)
	}
}
