"""Asks Knowlex through each framework in its own way; run where only they and the client are installed.

python frameworks.py URL: prints what each found, as one JSON object.
"""

import asyncio
import json
import sys

QUESTION = "How many steps does the lighthouse of Norderney have?"


def by_langchain(url):
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import PromptTemplate
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    from knowlex_client import Knowlex
    from knowlex_client.langchain import KnowlexRetriever

    retriever = KnowlexRetriever(client=Knowlex(url), collections=["default"], top_k=2)
    join = RunnableLambda(lambda documents: " / ".join(document.page_content for document in documents))
    prompt = PromptTemplate.from_template("{context}\n{question}")
    chain = (
        {"context": retriever | join, "question": RunnablePassthrough()}
        | prompt
        | RunnableLambda(lambda value: value.to_string())
        | StrOutputParser()
    )
    (document, *_), (awaited, *_) = retriever.invoke(QUESTION), asyncio.run(retriever.ainvoke(QUESTION))
    assert document == awaited
    return {"prompt": chain.invoke(QUESTION), "id": document.id, "metadata": document.metadata}


def by_llamaindex(url):
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine

    from knowlex_client import Knowlex
    from knowlex_client.llamaindex import KnowlexRetriever

    retriever = KnowlexRetriever(Knowlex(url), top_k=2)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    response = engine.query(QUESTION)
    (scored, *_), (awaited, *_) = response.source_nodes, asyncio.run(retriever.aretrieve(QUESTION))
    assert scored.node_id == awaited.node_id
    return {
        "prompt": response.response,
        "id": scored.node_id,
        "metadata": scored.metadata,
        "score": scored.score,
    }


def by_haystack(url):
    from haystack import Pipeline
    from haystack.components.builders import PromptBuilder

    from knowlex_client.haystack import KnowlexRetriever

    pipeline = Pipeline()
    pipeline.add_component("retriever", KnowlexRetriever(url, top_k=2))
    template = "{% for document in documents %}{{ document.content }}{% endfor %}"
    pipeline.add_component("prompt", PromptBuilder(template, required_variables=["documents"]))
    pipeline.connect("retriever.documents", "prompt.documents")
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=["knowlex_client.haystack"])
    ran = loaded.run({"retriever": {"query": QUESTION}}, include_outputs_from={"retriever"})
    document = ran["retriever"]["documents"][0]
    return {
        "prompt": ran["prompt"]["prompt"],
        "id": document.id,
        "metadata": document.meta,
        "score": document.score,
    }


if __name__ == "__main__":
    framework = {"langchain": by_langchain, "llamaindex": by_llamaindex, "haystack": by_haystack}[sys.argv[1]]
    print(json.dumps(framework(sys.argv[2])))
    assert not {"django", "knowlex"} & set(sys.modules)
