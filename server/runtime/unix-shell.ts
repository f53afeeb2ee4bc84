/** An interactive shell: bash where it is installed, else sh. */
export const unixShell = ['/bin/sh', '-c', 'if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi']
