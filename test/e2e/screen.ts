import type { Page } from '@playwright/test'

/** One look at the dashboard: where it is, and what brings it about. */
export interface Screen {
  /** Of its picture, and of the finding about it. */
  name: string
  /** Below the dashboard's address. */
  path: string
  /** Who looks: the owner; somebody who has not signed in; the owner of an instance where nothing is yet. */
  seen_by?: 'owner' | 'guest' | 'newcomer'
  /** Before the page is asked for, such as an answer that is held back. */
  before?: (page: Page) => Promise<unknown>
  /** It is looked at while it still waits for its answers. */
  is_loading?: boolean
  /** What it does to its page outlives a navigation: a slow line, something dragged, the desktop's bridge. */
  alters_page?: boolean
  /** Brings the page to what it is about, and waits until that is in sight. */
  act?: (page: Page) => Promise<unknown>
}
