import { type Locator, type Page, expect } from '@playwright/test'

/** A user's actions on a page, with a pointer or a keyboard. */
export interface InputDriver {
  /** Activates a button, link, switch, option, or item of an open menu. */
  press(target: Locator): Promise<void>
  /** Replaces the text of a field. */
  fill(field: Locator, text: string): Promise<void>
  /** Selects an option of a dropdown by its text. */
  choose(list: Locator, option: string): Promise<void>
  /** Opens a tab of the current project, or one of its pages; `words` find it in the palette. */
  openTab(tab: string, page?: { name: string; words: string }): Promise<void>
  /** Opens a page of the sidebar. */
  openPage(name: string, words?: string): Promise<void>
  /** Opens the list of instances. */
  openInstances(): Promise<void>
  /** Opens an instance by its position in the list. */
  switchTo(name: string, position: number): Promise<void>
  /** Activates an item of a button's menu. */
  pick(button: Locator, item: string | RegExp): Promise<void>
  /** Checks that a closed dialog has returned the focus. */
  expectClosed(dialog: Locator): Promise<void>
}

/** The minimum size of a target, in CSS pixels (WCAG 2.5.8). */
const minimumTargetSize = 24

/** Uses a pointer: a mouse, or touch on a page as narrow as a phone. */
export function createPointerDriver(page: Page, { isFinger }: { isFinger: boolean }): InputDriver {
  const press = async (target: Locator) => {
    // A link within a sentence is as tall as its line; a checkbox is also activated by its label.
    const size = await target.evaluate((element) => {
      const { width, height } = (element instanceof HTMLInputElement ? (element.closest('label') ?? element) : element).getBoundingClientRect()
      return getComputedStyle(element).display === 'inline' ? Infinity : Math.min(width, height)
    })
    expect.soft(size, `${target.toString()} is large enough to be pressed`).toBeGreaterThanOrEqual(minimumTargetSize)
    if (isFinger) await target.tap()
    else await target.click()
  }
  const openDrawer = async () => {
    const drawer = page.getByRole('button', { name: 'Menu', exact: true })
    if (await drawer.isVisible()) await press(drawer)
  }
  const pickFromInstanceMenu = async (item: Locator) => {
    await openDrawer()
    await press(page.getByRole('button', { name: /Switch instance/ }))
    await press(item)
  }
  return {
    press,
    async fill(field, text) {
      await press(field)
      await field.fill(text)
    },
    async choose(list, option) {
      await list.selectOption(option)
    },
    async openTab(tab, pageOfTab) {
      await press(page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: tab, exact: true }))
      if (pageOfTab) await press(page.getByRole('navigation', { name: `${tab} pages` }).getByRole('link', { name: pageOfTab.name, exact: true }))
    },
    async openPage(name) {
      await openDrawer()
      await press(page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }))
    },
    openInstances: () => pickFromInstanceMenu(page.getByRole('menuitem', { name: 'All instances' })),
    switchTo: (name) => pickFromInstanceMenu(page.getByRole('menuitemradio', { name })),
    async pick(button, item) {
      await press(button)
      await press(page.getByRole('menuitem', { name: item }))
    },
    async expectClosed(dialog) {
      await expect(dialog).toBeHidden()
    },
  }
}

/** More tab stops than any page has between two elements of one story. */
const maximumSteps = 150

/** Uses only the keyboard: presses keys until the target has a visible focus. */
export function createKeyboardDriver(page: Page): InputDriver & { pressed(): number } {
  let pressed = 0
  const key = async (name: string) => {
    pressed++
    await page.keyboard.press(name)
  }

  /** Presses the keys that `next` returns until the target has the focus. */
  async function moveFocusTo(target: Locator): Promise<void> {
    await expect(target).toBeVisible()
    await expect(target).toBeEnabled()
    const seen: string[] = []
    for (let steps = 0; ; steps++) {
      const focus = await target.evaluate(describeFocus)
      if (focus.is_there) {
        expect(focus.is_visible, `the focus on ${target.toString()} is to be seen`).toBe(true)
        expect(focus.is_in_viewport, `${target.toString()} is not covered while it has the focus`).toBe(true)
        return
      }
      seen.push(focus.name)
      if (steps === maximumSteps) throw new Error(`${target.toString()} is not reached by keys; met: ${seen.join(' | ')}`)
      await key(focus.next)
    }
  }

  /** The palette finds it from anywhere. */
  async function runPaletteCommand(words: string): Promise<void> {
    await key('ControlOrMeta+k')
    const input = page.getByRole('dialog', { name: 'Search or run a command' }).getByRole('combobox')
    await expect(input).toBeFocused()
    await type(words)
    // Entries of a project or an instance arrive with its response. A matching help page was there before, and stays selected.
    const wanted = page.getByRole('option', { name: new RegExp(words.replaceAll(' ', '.* '), 'i') }).first()
    await expect(wanted).toBeVisible()
    for (let steps = 0; (await wanted.getAttribute('aria-selected')) !== 'true'; steps++) {
      if (steps === maximumSteps) throw new Error(`“${words}” is not reached in the palette`)
      await key('ArrowUp')
    }
    await key('Enter')
    await expect(input).toBeHidden()
  }

  async function type(text: string): Promise<void> {
    pressed += text.length
    await page.keyboard.type(text)
  }

  async function press(target: Locator): Promise<void> {
    await moveFocusTo(target)
    const role = await target.evaluate((element) =>
      element instanceof HTMLInputElement ? element.type : (element.getAttribute('role') ?? element.tagName.toLowerCase()),
    )
    await key(['switch', 'radio', 'checkbox'].includes(role) ? 'Space' : 'Enter')
  }

  return {
    pressed: () => pressed,
    press,
    async fill(field, text) {
      await moveFocusTo(field)
      await key('ControlOrMeta+a')
      await type(text)
      await expect(field).toHaveValue(text)
    },
    async choose(list, option) {
      await moveFocusTo(list)
      const { at, wanted } = await list.evaluate((element, words) => {
        if (!(element instanceof HTMLSelectElement)) throw new Error('this is no list')
        return { at: element.selectedIndex, wanted: [...element.options].findIndex(({ text }) => text.trim() === words) }
      }, option)
      expect(wanted, `“${option}” is in the list`).toBeGreaterThanOrEqual(0)
      for (let step = 0; step < Math.abs(wanted - at); step++) await key(wanted > at ? 'ArrowDown' : 'ArrowUp')
      await expect(list.locator('option:checked')).toHaveText(option)
    },
    openTab: (tab, page) => runPaletteCommand(page?.words ?? tab),
    openPage: (name, words = name) => runPaletteCommand(words),
    openInstances: () => runPaletteCommand('all instances'),
    switchTo: (_name, position) => key(`Control+Shift+${position}`),
    async pick(button, item) {
      await press(button)
      const wanted = page.getByRole('menuitem', { name: item })
      await expect(wanted).toBeVisible()
      await press(wanted)
    },
    async expectClosed(dialog) {
      await expect(dialog).toBeHidden()
      // The opener, or its replacement, has the focus again; not the top of the page.
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName), 'the focus after a dialog').not.toBe('BODY')
    },
  }
}

/**
 * Runs in the page. Returns the next key: within a roving tabindex group an arrow, else Tab. Menus
 * move the focus in a timer after the key press. Before that timer fires the answer would be outdated, and the next key would go one too far.
 */
async function describeFocus(
  target: Element,
): Promise<{ is_there: boolean; is_visible: boolean; is_in_viewport: boolean; next: string; name: string }> {
  await new Promise((resolve) => setTimeout(resolve))
  const focused = document.activeElement
  const name =
    focused === null ? '' : `${focused.tagName.toLowerCase()} ${(focused.getAttribute('aria-label') ?? focused.textContent).trim().slice(0, 40)}`
  if (focused === target) {
    const styles = [getComputedStyle(target), getComputedStyle(target, '::after')]
    const { left, top, width, height } = target.getBoundingClientRect()
    const points = [0.5, 0.1, 0.9].map((part) => document.elementFromPoint(left + width * part, top + height / 2))
    return {
      is_there: true,
      is_visible: styles.some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && outlineWidth !== '0px'),
      is_in_viewport: points.some((point) => point !== null && (target.contains(point) || point.contains(target))),
      next: '',
      name,
    }
  }
  const group = target.closest('[role=radiogroup], [role=menu], [role=tablist], [role=group]:has(> [role=radio])')
  const isInGroup = group !== null && focused !== null && focused !== document.body && group.contains(focused)
  const isAfter = focused === null || focused === document.body || (focused.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
  const isAcross = group !== null && group.getAttribute('role') !== 'menu'
  const [on, back] = isInGroup ? (isAcross ? ['ArrowRight', 'ArrowLeft'] : ['ArrowDown', 'ArrowUp']) : ['Tab', 'Shift+Tab']
  return { is_there: false, is_visible: false, is_in_viewport: false, next: isAfter ? on : back, name }
}

/** A chord must be completed within 1.5 s. The keys are sent at once, so that no pause of the machine comes between them. */
export const pressInSequence = (page: Page, ...keys: string[]) => Promise.all(keys.map((key) => page.keyboard.press(key)))
