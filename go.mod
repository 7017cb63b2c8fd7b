module riskdex

go 1.26.0
