import type { Page } from '@playwright/test'

/** One state of the dashboard: its URL, and how to reach it. */
export interface Screen {
  /** The name of its screenshot and of its findings. */
  name: string
  /** Below the dashboard's address. */
  path: string
  /** The user: the owner; a signed-out visitor; the owner of an empty instance. */
  seen_by?: 'owner' | 'guest' | 'newcomer'
  /** Runs before the page is requested, for example to hold a response. */
  before?: (page: Page) => Promise<unknown>
  /** Checked while it still waits for its responses. */
  is_loading?: boolean
  /** It gets a document and a page of its own, because what it changes outlives them or a navigation: a script, a slow connection, a drag. */
  alters_page?: boolean
  /** Brings the page into its state, and waits until that is visible. */
  act?: (page: Page) => Promise<unknown>
}
