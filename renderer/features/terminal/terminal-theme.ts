import type { ITheme } from '@xterm/xterm'

const ansiColors = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

/** The current colors of the design tokens for an element. */
export function readTerminalTheme(element: HTMLElement): ITheme {
  const probe = document.createElement('span')
  element.append(probe)
  // The value of a token is an expression; the computed color is its result in the current theme.
  const read = (token: string) => {
    probe.style.color = `var(--${token})`
    return getComputedStyle(probe).color
  }
  const theme: ITheme = {
    background: read('code'),
    foreground: read('ink'),
    cursor: read('accent'),
    cursorAccent: read('on-accent'),
    selectionBackground: read('accent'),
    selectionInactiveBackground: read('accent'),
    selectionForeground: read('on-accent'),
    scrollbarSliderBackground: read('line-strong'),
    scrollbarSliderHoverBackground: read('ink-3'),
    scrollbarSliderActiveBackground: read('ink-3'),
  }
  for (const name of ansiColors) {
    const color = read(`ansi-${name}`)
    theme[name] = color
    theme[`bright${name[0]!.toUpperCase()}${name.slice(1)}` as `bright${Capitalize<typeof name>}`] = color
  }
  probe.remove()
  return theme
}

/** Calls back when the theme of the page or of the system changes. Returns a function that unsubscribes. */
export function watchTheme(onChange: () => void): () => void {
  const system = window.matchMedia('(prefers-color-scheme: dark)')
  const observer = new MutationObserver(onChange)
  system.addEventListener('change', onChange)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'data-remote', 'style'] })
  return () => {
    system.removeEventListener('change', onChange)
    observer.disconnect()
  }
}
