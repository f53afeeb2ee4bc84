import type { HelpTopic } from '../contract/help.ts'

/**
 * A part of an article. Text is a paragraph, in which `names` stand between backticks, [[topic]] leads to another topic and
 * [[/address|words]] to a page of the dashboard. `run` is a command, ready to copy.
 */
export type HelpBlock = string | { h: string } | { list: string[] } | { steps: string[] } | { run: string; note?: string }

export interface HelpArticle {
  id: HelpTopic
  title: string
  /** One sentence: when this is the page that somebody looks for. */
  summary: string
  /** What people type who look for it and would not find it by its text. */
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
