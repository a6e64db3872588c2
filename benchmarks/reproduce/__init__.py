"""Pages that put our numbers beside a paper's, each written from suites that anybody can run again."""
