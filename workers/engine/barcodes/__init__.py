"""Bar code symbologies and the values they encode, without drawing."""
