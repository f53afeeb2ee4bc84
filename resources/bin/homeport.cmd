@echo off
rem The command homeport of an installed Homeport: its command line, on the Node that it brings.
"%~dp0..\app.asar.unpacked\node_modules\node\bin\node.exe" --max-semi-space-size=4 --heap-growing-percent=25 "%~dp0..\app.asar.unpacked\out\main\homeport.js" %*
