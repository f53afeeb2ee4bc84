import { readFileSync, writeFileSync } from 'node:fs'

/** Cases that failed once, in a committed file that every run replays. */
export function readCorpus<Case>(file: URL): Case[] {
  return JSON.parse(readFileSync(file, 'utf8')) as Case[]
}

/** Adds a case that failed. */
export function addToCorpus<Case>(file: URL, failedCase: Case): void {
  writeFileSync(file, `${JSON.stringify([...readCorpus<Case>(file), failedCase], null, 2)}\n`)
}

/** Runs a new case and adds it to the file if it fails. */
export async function explore<Case>(file: URL, newCase: Case, run: (fresh: Case) => Promise<void>): Promise<void> {
  console.log(`exploring ${JSON.stringify(newCase)}`)
  try {
    await run(newCase)
  } catch (error) {
    addToCorpus(file, newCase)
    throw error
  }
}

/** A new random seed; `HOMEPORT_SEED` repeats one. */
export const newSeed = (): number => Number(process.env.HOMEPORT_SEED ?? Math.floor(Math.random() * 1e9))
