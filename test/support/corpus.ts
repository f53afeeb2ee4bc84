import { readFileSync, writeFileSync } from 'node:fs'

/** Cases that failed once, in a committed file: replayed in every run. */
export function readCorpus<Case>(file: URL): Case[] {
  return JSON.parse(readFileSync(file, 'utf8')) as Case[]
}

/** Adds a case that failed. */
export function addToCorpus<Case>(file: URL, failed: Case): void {
  writeFileSync(file, `${JSON.stringify([...readCorpus<Case>(file), failed], null, 2)}\n`)
}

/** Plays a new case and adds it to the file when it fails. */
export async function explore<Case>(file: URL, fresh: Case, play: (fresh: Case) => Promise<void>): Promise<void> {
  console.log(`exploring ${JSON.stringify(fresh)}`)
  try {
    await play(fresh)
  } catch (error) {
    addToCorpus(file, fresh)
    throw error
  }
}

/** A seed that no earlier run had; `HOMEPORT_SEED` repeats one. */
export const freshSeed = (): number => Number(process.env.HOMEPORT_SEED ?? Math.floor(Math.random() * 1e9))
