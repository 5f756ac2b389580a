"""The sum over hidden predictors, and finding its maximum."""
