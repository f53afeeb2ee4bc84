import { addToCorpus, freshSeed, readCorpus } from '../support/corpus.ts'
import { comparePaths } from './fuzz.ts'

const corpus = new URL('corpus/requests.json', import.meta.url)

comparePaths({ count: 20_000, seed: freshSeed(), replay: readCorpus(corpus), onFailure: (request) => addToCorpus(corpus, request) })
