"""The setup page (R-44): four stages of growth, each a checklist computed from facts."""
