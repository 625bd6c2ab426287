"""What kernels may call."""

from porter.simt.device_calls import foreign


def test_kernels_may_call_what_a_device_has():
    own = "expf fmaxf powf memcpy printf __assert_fail __cxa_guard_acquire"
    text = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm"
    ours = "__tsan_read4 porter_block_index _ZN6porter4simt13block_barrierEv"
    assert foreign([*own.split(), *ours.split(), text]) == []


def test_what_no_device_has_is_told():
    others = "getpid open system dlsym rand _ZNSt8ios_base4InitC1Ev _ZN2at6Tensor7softmaxEv qsort environ"
    assert foreign(others.split()) == others.split()
