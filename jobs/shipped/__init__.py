"""The job templates that come with the product, and the programs they run. See README.md."""
