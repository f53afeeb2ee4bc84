import { addToCorpus, newSeed, readCorpus } from '../support/corpus.ts'
import { comparePaths } from './path-comparison.ts'

const corpus = new URL('corpus/requests.json', import.meta.url)

comparePaths({ count: 20_000, seed: newSeed(), replay: readCorpus(corpus), onFailure: (request) => addToCorpus(corpus, request) })
