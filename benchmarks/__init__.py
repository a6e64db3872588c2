"""What ASV tracks: errors and costs of whole cells, times of hot kernels. All lists are literal; see CONTRIBUTING."""
