import type { BrowserContext, Page } from '@playwright/test'
import axe, { type AxeResults, type RunOptions } from 'axe-core'

interface AxeWindow {
  axe: { run(context: Document, options: RunOptions): Promise<AxeResults> }
}

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The rules about colors, the only ones that depend on the theme. */
export const colorContrastRules = ['color-contrast', 'link-in-text-block']

/** Every document of the window gets axe when it is created: the browser keeps the compiled script, while each injection compiles it again. */
export const addAxe = (context: BrowserContext): Promise<unknown> => context.addInitScript({ content: `if (self === top) {${axe.source}}` })

/** The findings of axe, one line each. `only`: a subset of the rules. There are no iframes, so axe may report from the page itself. */
export async function findViolations(page: Page, only?: string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  return page.evaluate(
    async (runOnly) => {
      // Passed rules are not reported, because naming each element takes axe longer than checking it.
      const { violations } = await (window as unknown as AxeWindow).axe.run(document, { runOnly, resultTypes: ['violations'] })
      return violations.map(
        ({ id, impact, nodes }) =>
          `${id} (${impact}): ${nodes.map(({ target, failureSummary }) => `${target.join(' ')} ${failureSummary}`).join('; ')}`,
      )
    },
    only ? ({ type: 'rule', values: only } as const) : ({ type: 'tag', values: tags } as const),
  )
}
