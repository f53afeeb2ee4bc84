import type { HelpTopic } from '../contract/help.ts'

/**
 * A block of an article. A string is a paragraph: backticks mark code, [[topic]] links to another topic, and [[/path|text]] links to a
 * page of the dashboard. `run` is a command to copy, `text` what a `file` contains.
 */
export type HelpBlock =
  | string
  | { h: string }
  | { list: string[] }
  | { steps: string[] }
  | { run: string; note?: string }
  | { file: string; text: string }

export interface HelpArticle {
  id: HelpTopic
  title: string
  /** One sentence that says which problem or task the topic covers. */
  summary: string
  /** Search terms that do not occur in the text. */
  keywords: string
  body: HelpBlock[]
}

export const topicGroups = {
  begin: 'First steps',
  names: 'Addresses and networks',
  deploy: 'Deploying',
  run: 'Running',
  keep: 'This instance',
} as const
