import { readCorpus } from '../support/corpus.ts'
import { comparePaths } from './path-comparison.ts'

comparePaths({ count: 300, seed: 20_261_121, replay: readCorpus(new URL('corpus/requests.json', import.meta.url)) })
