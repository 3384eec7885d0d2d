"""Administration that needs facts of several apps at once: grants and quotas, with what is used and what there is."""
