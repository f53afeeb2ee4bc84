import type { Project } from './projects.ts'

type SearchableProject = Pick<Project, 'name' | 'slug' | 'repo_url'>
const searchTextCache = new WeakMap<SearchableProject, string>()

/** Whether each of the words is in the name, the slug or the repository. A project's text is made once: ten thousand are asked at every key. */
export function isMatch(project: SearchableProject, words: readonly string[]): boolean {
  let text = searchTextCache.get(project)
  if (text === undefined) {
    text = searchTextOf(project)
    searchTextCache.set(project, text)
  }
  return includesAllWords(text, words)
}

/** The same of one that is looked at once: to keep its text would cost more than the search. */
export function isMatchUncached(project: SearchableProject, words: readonly string[]): boolean {
  return includesAllWords(searchTextOf(project), words)
}

export function splitSearchWords(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean)
}

const searchTextOf = ({ name, slug, repo_url }: SearchableProject): string => `${name}\n${slug}\n${repo_url ?? ''}`.toLowerCase()

function includesAllWords(text: string, words: readonly string[]): boolean {
  for (const word of words) if (!text.includes(word)) return false
  return true
}
