"""A Kubernetes cluster, reached over its API only. Nothing else imports the kubernetes client."""
