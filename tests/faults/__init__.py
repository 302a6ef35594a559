"""What Knowlex survives: fifty-five faults, and where each is provoked. Files without a folder lie here.

Quick ones run in every build; what is drawn by chance there is told at the end (`--chaos-seed`). Longer
rounds of some come with `-m slow`.

 F1 to F4   workers killed, ended, replaced             test_workers.py (2, 3, 4: also slow)
 F5         any process killed at random                test_random_kills.py (also slow), test_chaos.py (slow)
 F6, F7     calls that share the work                   test_workers.py
 F8 to F12  the broker down, hanging, forgetful         test_broker.py (12: slow), test_workers.py (12)
 F13 to F17 PostgreSQL crashed, gone, hanging, full up  test_database.py (13: also slow)
 F18        deadlocks                                   test_workers.py, documents/test_faults.py
 F19 to F29 the embedding model fails in all ways       test_embedding_provider.py (24, 28, 29: also slow),
                                                        test_workers.py (24), test_ollama_alone.py
 F30 to F34 the chat model fails, lies, breaks off      test_llm.py, test_streams.py
 F35        a client leaves in mid-upload               test_uploads.py, documents/test_faults.py
 F36        slow uploads                                edges/test_bodies.py
 F37, F38   equal uploads at once                       documents/test_at_once.py, test_uploads.py (37: slow)
 F39        an upload that cannot be read, twice        documents/test_at_once.py
 F40        killed between file and row                 documents/test_faults.py
 F41 to F43 deleted meanwhile                           test_workers.py, test_uploads.py
 F44, F46   files: disk full, read-only, missing        test_files.py, documents/test_faults.py
 F45        disk full under PostgreSQL                  test_database.py
 F47, F48   files that hang or fill the extractor       test_uploads.py (also slow)
 F49        clocks that jump                            test_workers.py
 F50, F51   two starts at once, upgrade while read      test_starts.py, stack/test_upgrade.py, _up.py
 F52        another model in the settings               test_model_switch.py (also slow)
 F53        a vector index that finds too little        embeddings/indexes/test_life.py
 F54        no network                                  test_network.py
 F55        load, with failing replies                  test_load.py (also slow)
"""
