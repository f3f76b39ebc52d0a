# ---- calls of launchers: statuses, texts, threads, several files in one program ----
ctilec_test(launch/statuses "quick;values" launch/run.py c)
ctilec_test(launch/overlap "quick;values" launch/run.py overlap)
ctilec_test(launch/threads "values" launch/run.py threads)
ctilec_test(nvcc/launch "nvcc" launch/run.py nvcc)
