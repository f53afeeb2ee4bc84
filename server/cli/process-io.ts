import type { ProgramIo } from './attach-command.ts'

/** Input and output of this process, for a program on another machine. */
export function openProcessIo(): ProgramIo {
  const { stdin, stdout, stderr } = process
  const readSize = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 })
  return {
    input: stdin,
    output: stdout,
    errors: stderr,
    terminal:
      stdin.isTTY && stdout.isTTY
        ? {
            readSize,
            watchSize(onChange) {
              const listener = () => onChange(readSize())
              stdout.on('resize', listener)
              return () => void stdout.off('resize', listener)
            },
            setRaw: (isRaw) => void stdin.setRawMode(isRaw),
          }
        : null,
  }
}
