import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import '@xterm/xterm/css/xterm.css'
import type { TerminalSize } from '../../../server/contract/command-frames.ts'
import { copyText } from '../../components/copy.tsx'
import { isApple } from '../../lib/key-chords.ts'
import { readTerminalTheme, watchTheme } from './terminal-theme.ts'

/** A terminal emulator that fills its element, in the colors and at the size of the page. */
export interface TerminalScreen {
  readonly size: TerminalSize
  /** Resolves when the output is on the screen. */
  write(output: Uint8Array | string): Promise<void>
  onInput(handler: (input: Uint8Array) => void): void
  onResize(handler: (size: TerminalSize) => void): void
  /** Sends keys as if they were typed. */
  type(keys: string): void
  /** Disables input; the output can still be read and copied. */
  end(): void
  focus(): void
  dispose(): void
}

const scrollback_lines = 10_000
/** The same font as other monospaced text of the dashboard. */
const minimumContrast = 4.5

export function createScreen(element: HTMLElement): TerminalScreen {
  const terminal = new Terminal({
    fontFamily: getComputedStyle(element).fontFamily,
    fontSize: 13,
    lineHeight: 1.25,
    scrollback: scrollback_lines,
    cursorBlink: !window.matchMedia('(prefers-reduced-motion: reduce)').matches,
    macOptionIsMeta: true,
    minimumContrastRatio: minimumContrast,
    screenReaderMode: true,
    theme: readTerminalTheme(element),
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  terminal.open(element)
  terminal.attachCustomKeyEventHandler(createKeyFilter(terminal))
  fit.fit()
  const observer = new ResizeObserver(() => fit.fit())
  observer.observe(element)
  const stopWatchingTheme = watchTheme(() => (terminal.options.theme = readTerminalTheme(element)))
  const encoder = new TextEncoder()

  return {
    get size() {
      return { columns: terminal.cols, rows: terminal.rows }
    },
    write: (output) => new Promise((resolve) => terminal.write(output, resolve)),
    onInput(handler) {
      terminal.onData((text) => handler(encoder.encode(text)))
      // Mouse reports, as one byte per character.
      terminal.onBinary((text) => handler(Uint8Array.from(text, (character) => character.charCodeAt(0))))
    },
    onResize(handler) {
      terminal.onResize(({ cols, rows }) => handler({ columns: cols, rows }))
    },
    type(keys) {
      terminal.input(keys)
      terminal.focus()
    },
    end() {
      terminal.options.disableStdin = true
      terminal.options.cursorBlink = false
    },
    focus: () => terminal.focus(),
    dispose() {
      stopWatchingTheme()
      observer.disconnect()
      terminal.dispose()
    },
  }
}

/** Leaves keys to the browser that are not for the shell: Escape, then Tab moves the focus, and the usual keys copy and paste. */
function createKeyFilter(terminal: Terminal): (event: KeyboardEvent) => boolean {
  let isAfterEscape = false
  return (event) => {
    if (event.type !== 'keydown' || event.isComposing) return true
    const leaves = event.key === 'Tab' && (isAfterEscape || terminal.options.disableStdin === true)
    if (event.key !== 'Shift') isAfterEscape = event.key === 'Escape'
    if (leaves) return false
    const hasCopyKeys = isApple ? event.metaKey : event.ctrlKey && event.shiftKey
    if (hasCopyKeys && event.code === 'KeyC') {
      if (terminal.hasSelection()) {
        event.preventDefault()
        void copyText(terminal.getSelection()).then(() => terminal.focus())
      }
      return false
    }
    return !(hasCopyKeys && event.code === 'KeyV')
  }
}
