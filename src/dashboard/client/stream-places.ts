/**
 * A browser opens at most six connections to a server without HTTP/2, for all its windows. So at most four windows
 * hold a stream, and the others read their page again and again: else the seventh would not even load.
 */
const MAX_STREAMS = 4;
/** The other windows answer within this time. */
const ANSWER_MS = 200;

interface Message {
  is: 'question' | 'answer';
  from: string;
  to?: string;
}

export interface StreamPlaces {
  /** Whether this window may open a stream now. */
  take(): Promise<boolean>;
  leave(): void;
}

export function openStreamPlaces(): StreamPlaces {
  const channel = new BroadcastChannel(`streams ${new URL('../..', import.meta.url).pathname}`);
  const own = String(Math.random());
  let state: 'none' | 'asks' | 'streams' = 'none';
  let questions = 0;
  let holders = new Set<string>();
  const send = (message: Message) => channel.postMessage(message);
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.is === 'answer') {
      if (data.to === own) holders.add(data.from);
    } else if (state === 'streams' || (state === 'asks' && own < data.from)) {
      // Of those that ask at the same time, the first by name go first.
      send({ is: 'answer', from: own, to: data.from });
    }
  });
  return {
    async take() {
      questions += 1;
      const question = questions;
      holders = new Set();
      state = 'asks';
      send({ is: 'question', from: own });
      await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
      if (question !== questions) return false;
      state = holders.size < MAX_STREAMS ? 'streams' : 'none';
      return state === 'streams';
    },
    leave() {
      questions += 1;
      state = 'none';
    },
  };
}
