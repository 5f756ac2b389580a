"""The lifetime account: exact, append-only, blind to values, and never overdrawn."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.device.epsilon import exp_below
from deniable.device.ledger import Ledger
from deniable.device.ledger_events import Asked, Replayed
from deniable.errors import DesignError, InputError, OverdrawnError, PrivacyError, UnknownEventError

limits = st.floats(min_value=0.01, max_value=20)
ratios = st.builds(lambda n, d: 1 + Fraction(n, d), st.integers(0, 2**32), st.integers(1, 2**32))
ids = st.sampled_from("abcdefgh")
events = st.one_of(
    st.builds(Asked, ids, st.integers(0, 9), ratios),
    st.builds(Replayed, ids, ids),
)


def charged(limit: float, *several: Asked | Replayed) -> Ledger:
    ledger = Ledger(limit)
    for event in several:
        ledger.charge(event)
    return ledger


class TestNeverOverdrawn:
    @given(limits, st.lists(events, max_size=30))
    def test_whatever_is_charged(self, limit, attempts):
        ledger = Ledger(limit)
        for event in attempts:
            before = ledger.to_dict()
            affordable = not isinstance(event, Asked) or ledger.can_afford(event.ratio)
            try:
                ledger.charge(event)
            except PrivacyError:
                assert ledger.to_dict() == before  # a refusal leaves no trace
            else:
                assert affordable
                assert ledger.events[-1] == event
            assert ledger.spent <= exp_below(limit)
            assert ledger.epsilon_spent <= limit
            assert 0 <= ledger.remaining <= limit
        asked = [event for event in ledger.events if isinstance(event, Asked)]
        assert ledger.spent == math.prod((event.ratio for event in asked), start=Fraction(1))
        assert len({event.design for event in ledger.events}) == len(ledger.events)

    @given(limits, st.lists(ratios, max_size=6))
    def test_what_remains_can_be_spent_and_no_more(self, limit, several):
        ledger = Ledger(limit)
        for number, ratio in enumerate(several):
            if ledger.can_afford(ratio):
                ledger.charge(Asked(str(number), 0, ratio))
        remaining = ledger.remaining
        if remaining > 0:
            assert ledger.can_afford(exp_below(remaining))
            ledger.charge(Asked("last", 0, exp_below(remaining)))
            assert ledger.remaining <= 1e-14
        assert not ledger.can_afford(exp_below(limit) / ledger.spent + Fraction(1, 10**100))

    def test_the_comparison_is_exact(self):
        ledger = Ledger(1.0)
        allowed = exp_below(1.0)
        assert ledger.can_afford(allowed)
        assert not ledger.can_afford(allowed + Fraction(1, 10**200))

    def test_an_untouched_account_shows_its_limit(self):
        for limit in (0.1, 1.0, 2.5, 1000.0):
            assert Ledger(limit).remaining == limit


class TestRefusals:
    def test_an_overdraft_names_spent_asked_limit_and_the_way_out(self):
        ledger = charged(2.0, Asked("a", 0, Fraction(3)))
        with pytest.raises(
            OverdrawnError, match=r"asks for epsilon 1\.098.*1\.098.*limit 2 .*0\.901.*smaller"
        ) as caught:
            ledger.charge(Asked("b", 0, Fraction(3)))
        assert caught.value.limit == 2.0
        assert caught.value.spent == caught.value.asked == 1.0986122886681098
        assert caught.value.design == "b"
        assert ledger.spent == 3

    def test_a_second_answer_to_one_design(self):
        ledger = charged(5.0, Asked("a", 0, Fraction(2)), Replayed("b", of="a"))
        for event in (Asked("a", 1, Fraction(2)), Asked("b", 0, Fraction(2)), Replayed("b", of="a")):
            with pytest.raises(PrivacyError, match="answered before"):
                ledger.charge(event)

    def test_a_replay_of_what_was_never_charged(self):
        ledger = charged(5.0, Asked("a", 0, Fraction(2)), Replayed("b", of="a"))
        for of in ("never", "b", "c"):
            with pytest.raises(PrivacyError, match="never charged"):
                ledger.charge(Replayed("c", of=of))

    def test_a_replay_is_free_even_when_nothing_is_left(self):
        ledger = charged(1.0, Asked("a", 0, exp_below(1.0)))
        ledger.charge(Replayed("b", of="a"))
        assert ledger.remaining == 0.0
        assert ledger.spent == exp_below(1.0)

    def test_an_infinite_ratio_always(self):
        assert not Ledger(1000.0).can_afford(math.inf)
        with pytest.raises(PrivacyError, match="infinite"):
            Asked("a", 0, math.inf)

    def test_unknown_events(self):
        class Discounted(Asked):
            """Means something that the ledger cannot know."""

        ledger = Ledger(1.0)
        for event in (object(), None, {"kind": "asked/1"}, Discounted("a", 0, Fraction(2))):
            with pytest.raises(UnknownEventError, match="no rule"):
                ledger.charge(event)
        assert ledger.events == ()

    @pytest.mark.parametrize("limit", [0, -1.0, math.nan, math.inf, 10**400])
    def test_limits_that_limit_nothing(self, limit):
        with pytest.raises(DesignError):
            Ledger(limit)

    @pytest.mark.parametrize(
        ("make", "told"),
        [
            (lambda: Asked("", 0, Fraction(2)), "design is a design's id"),
            (lambda: Asked(7, 0, Fraction(2)), "design is a design's id"),
            (lambda: Asked("a", -1, Fraction(2)), "a ballot is an integer"),
            (lambda: Asked("a", True, Fraction(2)), "a ballot is an integer"),
            (lambda: Asked("a", 0.0, Fraction(2)), "a ballot is an integer"),
            (lambda: Replayed("a", ""), "of is a design's id"),
            (lambda: Replayed(None, "a"), "design is a design's id"),
        ],
    )
    def test_malformed_events(self, make, told):
        with pytest.raises(InputError, match=f"^{told}"):
            make()

    @pytest.mark.parametrize("event", [Asked("a", 0, Fraction(2)), Replayed("a", of="b")])
    def test_an_event_never_changes(self, event):
        with pytest.raises(dataclasses.FrozenInstanceError):
            event.design = "c"

    def test_ratios_that_are_none_or_cannot_be_written_down(self):
        for ratio in (Fraction(1, 2), 1.5):
            with pytest.raises(DesignError):
                Asked("a", 0, ratio)
        for long in (10**4000, 10**4000 + 1):
            with pytest.raises(PrivacyError, match="digits"):
                Asked("a", 0, Fraction(long, long - 1))

    def test_the_longest_ratio_is_written_down_and_read(self):
        ratio = Fraction(10**4000 - 1, 10**4000 - 2)
        ledger = charged(1.0, Asked("a", 0, ratio))
        assert Ledger.from_dict(json.loads(json.dumps(ledger.to_dict()))).spent == ratio

    def test_a_whole_ratio_becomes_a_fraction(self):
        assert type(Asked("a", 0, 2).ratio) is Fraction


class TestBlindToValues:
    """A charge or refusal that knew the answer would be an unrandomized report."""

    def test_no_parameter_and_no_field_can_carry_a_value(self):
        public = {"design", "ballot", "ratio", "of", "limit", "event", "state", "ax"}  # ax: where to draw the account
        seen = set()
        for owner in (Ledger, Asked, Replayed):
            for name, member in inspect.getmembers(owner):
                if callable(member) and (not name.startswith("_") or name == "__init__"):
                    parameters = inspect.signature(member).parameters.values()
                    assert all(p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
                    seen |= {p.name for p in parameters} - {"self"}
        assert seen == public

    def test_events_hold_public_facts_only(self):
        assert [field.name for field in dataclasses.fields(Asked)] == ["design", "ballot", "ratio"]
        assert [field.name for field in dataclasses.fields(Replayed)] == ["design", "of"]
        assert Ledger.__slots__ == ("_allowed", "_events", "_limit", "_spent")  # and no __dict__ to put more into

    @given(limits, st.lists(events, max_size=10))
    def test_the_same_events_have_the_same_fate(self, limit, attempts):
        def fates() -> list[str]:
            ledger, outcomes = Ledger(limit), []
            for event in attempts:
                try:
                    ledger.charge(event)
                    outcomes.append("charged")
                except PrivacyError as error:
                    outcomes.append(str(error))
            return outcomes

        assert fates() == fates()


class TestStored:
    @given(limits, st.lists(events, max_size=20))
    def test_there_and_back_through_json(self, limit, attempts):
        ledger = Ledger(limit)
        for event in attempts:
            try:
                ledger.charge(event)
            except PrivacyError:
                continue
        again = Ledger.from_dict(json.loads(json.dumps(ledger.to_dict())))
        assert again == ledger
        assert (again.spent, again.remaining, again.events) == (ledger.spent, ledger.remaining, ledger.events)

    def test_the_form_is_pinned(self):
        ledger = charged(2.0, Asked("a", 3, Fraction(6, 4)), Replayed("b", of="a"))
        assert ledger.to_dict() == {
            "kind": "deniable.ledger/1",
            "limit": 2.0,
            "events": [
                {"kind": "asked/1", "design": "a", "ballot": 3, "ratio": "3/2"},
                {"kind": "replayed/1", "design": "b", "of": "a"},
            ],
        }

    @pytest.mark.parametrize(
        ("place", "value", "error"),
        [
            (("kind",), "deniable.ledger/2", InputError),
            (("kind",), None, InputError),
            (("limit",), 1.0, OverdrawnError),  # less than was spent
            (("limit",), "2.0", InputError),
            (("limit",), True, InputError),
            (("limit",), -1.0, DesignError),
            (("limit",), math.nan, DesignError),
            (("discount",), 0.5, InputError),
            (("events",), {}, InputError),
            (("events", 0, "kind"), "asked/2", UnknownEventError),
            (("events", 0, "kind"), ["asked/1"], UnknownEventError),
            (("events", 0, "value"), "yes", InputError),
            (("events", 0, "ratio"), "8/1", OverdrawnError),
            (("events", 0, "ratio"), "6/2", InputError),
            (("events", 0, "ratio"), "1/3", InputError),
            (("events", 0, "ratio"), "3/0", InputError),
            (("events", 0, "ratio"), "03/1", InputError),
            (("events", 0, "ratio"), " 3/1", InputError),
            (("events", 0, "ratio"), "3", InputError),
            (("events", 0, "ratio"), "inf", InputError),
            (("events", 0, "ratio"), 3.0, InputError),
            (("events", 0, "ratio"), "9" * 5000 + "/1", InputError),
            (("events", 0, "ballot"), "0", InputError),
            (("events", 0, "design"), "b", PrivacyError),  # two answers to b
            (("events", 1, "of"), "z", PrivacyError),
            (("events", 1, "design"), 5, InputError),
            (("events", 1, "ratio"), "1/1", InputError),
            (("events", 1), "replayed/1", UnknownEventError),
            (("events", 1), None, UnknownEventError),
        ],
    )
    def test_tampered_states_are_refused(self, place, value, error):
        state = charged(2.0, Asked("a", 0, Fraction(3)), Replayed("b", of="a")).to_dict()
        inner = state
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = value
        with pytest.raises(error):
            Ledger.from_dict(state)

    @pytest.mark.parametrize("field", ["kind", "limit", "events"])
    def test_missing_fields_are_refused(self, field):
        state = Ledger(1.0).to_dict()
        del state[field]
        with pytest.raises(InputError):
            Ledger.from_dict(state)

    def test_it_is_said_what_was_found_instead(self):
        with pytest.raises(InputError, match=r"got \['kind', 'limit'\]"):
            Ledger.from_dict({"kind": "deniable.ledger/1", "limit": 1.0})
        state = {"kind": "deniable.ledger/1", "limit": 1.0, "events": [{"kind": "asked/2"}]}
        with pytest.raises(UnknownEventError, match="an event of kind 'asked/2'"):
            Ledger.from_dict(state)
        state["events"] = [{"kind": "asked/1", "design": "a", "ballot": 0, "ratio": "9" * 5000}]
        with pytest.raises(InputError, match=f"got '{'9' * 80}'"):
            Ledger.from_dict(state)

    @pytest.mark.parametrize("state", [None, [], "ledger", 3])
    def test_what_is_no_state_is_refused(self, state):
        with pytest.raises(InputError):
            Ledger.from_dict(state)


def test_it_is_append_only_and_shows_itself():
    ledger = charged(2.0, Asked("a", 0, Fraction(3)))
    for name in ("limit", "events", "spent", "remaining"):
        with pytest.raises(AttributeError):
            setattr(ledger, name, None)
    ledger.to_dict()["events"].clear()
    assert len(ledger.events) == 1
    assert repr(ledger) == "<Ledger: epsilon 1.0986 of 2 spent, 0.9014 left, 1 events>"
    assert copy.deepcopy(ledger) == ledger
    assert ledger.limit == 2.0
    ledger.charge(Replayed("<b>", of="a"))
    assert ledger._repr_html_() == (
        "<table><caption>epsilon 1.0986 of 2 spent, 0.9014 left</caption><tbody>"
        "<tr><td>a</td><td>1.0986</td></tr><tr><td>&lt;b&gt;, as in a</td><td>0.0000</td></tr></tbody></table>"
    )
    assert ledger != Ledger(2.0)
    assert ledger != "ledger"
    assert ledger.__eq__("ledger") is NotImplemented  # so that the other one is asked
