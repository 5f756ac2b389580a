"""Speed, accuracy and calibration of this package, measured beside its peers: a measurement a file."""
